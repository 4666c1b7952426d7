import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Prepared } from '../../../lib/change/update/prepared.ts';
import type { Cluster } from '../../../lib/config/cluster/cluster.ts';
import type { LinkOnHost } from '../../../lib/engine/agents/links.ts';
import { exists, ifMissing, readTextIfPresent, sha256OfFile } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { payloadFile } from '../../../lib/payload/payload.ts';
import type { UnitFile } from '../../../units/unit-file.ts';

const UNITS = '/etc/systemd/system';
const EXECUTABLE = '/var/lib/sno-agents/bin/sno-agents';
const PAYLOAD = '/var/lib/sno-agents/payload';

/** A file of the host as it is to be. */
export type WantedFile = Prepared['files'][number];

/** What an update brings, beside what is in use. */
export interface NewParts {
  readonly payloadFolder: string;
  readonly executable: string;
}

/** SHA-256, hex. */
interface Digests {
  readonly executable: string;
  readonly payload: string;
}

export const digestsOf = async (
  { payloadFolder, executable }: NewParts,
  signal: AbortSignal,
): Promise<Digests> => ({
  executable: await sha256OfFile(executable, signal),
  payload: await sha256OfFile(join(payloadFolder, payloadFile), signal),
});

/** Always in the same order, so that a host with the same digests has the same text. */
export function withDigests(
  { payloadSha256: _, ...cluster }: Cluster,
  { executable, payload }: Digests,
): Cluster {
  return { ...cluster, executableSha256: executable, payloadSha256: payload };
}

export const clusterFile = (cluster: Cluster): WantedFile => ({
  path: '/etc/sno-agents/cluster.json',
  contents: `${JSON.stringify(cluster, null, 2)}\n`,
  mode: 0o600,
});

/** By which the executable and the payload are verified at each boot. */
export const digestFiles = ({ executable, payload }: Digests): WantedFile[] => [
  digestFile('executable', executable, EXECUTABLE),
  digestFile('payload', payload, `${PAYLOAD}/${payloadFile}`),
];

const digestFile = (name: string, digest: string, path: string): WantedFile => ({
  path: `/etc/sno-agents/${name}.sha256`,
  contents: `${digest}  ${path}\n`,
  mode: 0o644,
});

export const unitFiles = (units: readonly UnitFile[]): WantedFile[] =>
  units.map(({ name, contents }) => ({ path: join(UNITS, name), contents, mode: 0o644 }));

/** With the mode that the file has now, if it exists. */
export async function differing(
  paths: HostPaths,
  wanted: readonly WantedFile[],
): Promise<WantedFile[]> {
  const found: WantedFile[] = [];
  for (const file of wanted) {
    if ((await readTextIfPresent(paths.at(file.path))) === file.contents) continue;
    const mode = (await lstat(paths.at(file.path)).catch(ifMissing))?.mode ?? file.mode;
    found.push({ ...file, mode: mode & 0o777 });
  }
  return found;
}

/** Units that the host does not have yet, and that are enabled. */
export async function newUnits(paths: HostPaths, units: readonly UnitFile[]): Promise<string[]> {
  const found: string[] = [];
  for (const { name, enabled } of units) {
    if (enabled && !(await exists(paths.at(join(UNITS, name))))) found.push(name);
  }
  return found;
}

/** Links that the host does not have yet. */
export async function newLinks(
  paths: HostPaths,
  links: readonly LinkOnHost[],
): Promise<LinkOnHost[]> {
  const found: LinkOnHost[] = [];
  for (const link of links) {
    if (!(await exists(paths.at(link.path)))) found.push(link);
  }
  return found;
}
