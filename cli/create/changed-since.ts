import { isDeepStrictEqual } from 'node:util';
import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { type Cluster, clusterSchema } from '../../lib/config/cluster/cluster.ts';
import type { IgnitionConfig } from '../../lib/render/ignition/config.ts';
import { ownConfigPath } from './live-additions.ts';
import type { LiveIgnitionInput } from './live-ignition.ts';
import { liveIgnition } from './live-ignition.ts';

export const CLUSTER_PATH = '/etc/sno-agents/cluster.json';

/** Decided by `sno create` itself or by its options, not by the folder. */
const NOT_OF_THE_FOLDER = [
  'clusterId',
  'executableSha256',
  'payloadSha256',
  'payloadUrl',
  'machineConfigServerUrl',
] as const satisfies readonly (keyof Cluster)[];

const NO_AUTHORITY = { certificate: '', key: '' };
const isAuthority = (path: string) => path.startsWith('/opt/openshift/tls/');
/**
 * A file of this kind that exists only in the config was removed from the folder;
 * any other was added by a person, such as settings.json.
 */
const isManifest = (path: string) =>
  path.startsWith('/opt/openshift/') || path.startsWith('/etc/sno-agents/deferred/');
const isOption = (path: string) =>
  ['/etc/sno-agents/executable.curl', ownConfigPath].includes(path);

/**
 * What would differ if the Ignition config were created from the folder now: fields
 * of the cluster and paths on the host, without contents, which can be secret.
 * Empty if it is up to date.
 */
export function changedSince(
  config: IgnitionConfig,
  pinned: Cluster,
  now: Pick<LiveIgnitionInput, 'cluster' | 'pullSecret' | 'manifests' | 'deferred'>,
): string[] {
  const current = liveIgnition({
    ...now,
    cluster: clusterSchema.parse({ ...now.cluster, ...chosen(pinned) }),
    authorities: { servingCa: NO_AUTHORITY, adminCa: { certificate: '' } },
    units: [],
  });
  const before = contentsByPath(config);
  const after = contentsByPath(current);
  const changed = [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => !isAuthority(path) && !isOption(path))
    .filter((path) => after.has(path) || isManifest(path))
    .filter((path) => before.get(path) !== after.get(path));
  return [
    ...changedFields(pinned, now.cluster),
    ...changed.filter((path) => path !== CLUSTER_PATH).toSorted(),
  ];
}

function chosen(pinned: Cluster): Partial<Cluster> {
  return Object.fromEntries(
    NOT_OF_THE_FOLDER.map((name) => [name, pinned[name]]).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

function changedFields(before: Cluster, after: Cluster): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const fields = new Map(Object.entries(before));
  const own: readonly string[] = NOT_OF_THE_FOLDER;
  const current = new Map(Object.entries(clusterSchema.parse(after)));
  return [...names]
    .filter((name) => !own.includes(name))
    .filter((name) => !isDeepStrictEqual(fields.get(name), current.get(name)))
    .toSorted();
}

function contentsByPath(config: IgnitionConfig): Map<string, string> {
  return new Map(
    (config.storage?.files ?? []).map(({ path, contents }) => [
      path,
      contents === undefined ? '' : decodeDataUrl(contents).toString('base64'),
    ]),
  );
}
