import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { parseJson } from '../../lib/base/json.ts';
import type { Cluster, OpenShiftRelease } from '../../lib/config/cluster/cluster.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { exists } from '../../lib/host/files.ts';
import { requireRegularFile } from '../../lib/host/given-file.ts';
import { readConfig } from '../../lib/render/ignition/config.ts';
import type { OutputFile } from '../create/outputs.ts';

/** What openshift-install writes beside the Ignition config. */
export const BESIDE = [
  'metadata.json',
  'worker.ign',
  'auth/kubeconfig',
  'auth/kubeadmin-password',
] as const;

/** Such a file, and where it goes. */
interface Found extends OutputFile {
  readonly name: (typeof BESIDE)[number];
}

/** Reads those that exist; `missing` names the others. */
export async function readBeside(from: string, to: string) {
  const found: Found[] = [];
  const missing: string[] = [];
  for (const name of BESIDE) {
    const place = join(from, name);
    if (await exists(place)) {
      await requireRegularFile(place, 'The file');
      found.push({ name, path: join(to, name), contents: await readFile(place, 'utf8') });
    } else missing.push(name);
  }
  return { found, missing };
}

const metadata = z.looseObject({
  clusterName: z.string(),
  clusterID: z.string(),
  infraID: z.string(),
});

/**
 * Whether the files belong to the cluster of the Ignition config.
 *
 * @throws Failure (usage) with every fault.
 */
export function requireSameCluster(
  found: readonly Found[],
  cluster: Pick<Cluster, 'name' | 'baseDomain'>,
  openshift: OpenShiftRelease,
  rootCa: string,
): void {
  const domain = clusterDomain(cluster);
  const faultsOf: Readonly<Record<Found['name'], (contents: string) => string[]>> = {
    'metadata.json': (text) => metadataFaults(text, cluster.name, openshift),
    'worker.ign': (text) =>
      workerFaults(text, `https://api-int.${domain}:22623/config/worker`, rootCa),
    'auth/kubeconfig': (text) => kubeconfigFaults(text, `https://api.${domain}:6443`),
    'auth/kubeadmin-password': () => [],
  };
  const faults = found.flatMap(({ name, contents }) => faultsOf[name](contents));
  if (faults.length === 0) return;
  const head = 'Files beside the Ignition config are of another cluster; nothing was written';
  throw new Failure('usage', [head, ...faults].join('\n'));
}

function metadataFaults(text: string, name: string, openshift: OpenShiftRelease): string[] {
  const parsed = metadata.safeParse(parseJson(text));
  if (!parsed.success) return ['metadata.json: expected clusterName, clusterID and infraID'];
  const { clusterName, clusterID, infraID } = parsed.data;
  return [
    ['clusterName', clusterName, name],
    ['clusterID', clusterID, openshift.clusterId],
    ['infraID', infraID, openshift.infrastructureName],
  ].flatMap(([field, found, expected]) =>
    found === expected ? [] : [`metadata.json: ${field}: expected ${expected}, found ${found}`],
  );
}

function workerFaults(text: string, url: string, rootCa: string): string[] {
  const read = readConfig(text);
  if (!read.ok) return ['worker.ign: expected an Ignition config'];
  const sources = (read.config.ignition.config?.merge ?? []).map(({ source }) => source);
  const isTrusted = text.includes(Buffer.from(rootCa).toString('base64'));
  return [
    ...(sources.includes(url)
      ? []
      : [`worker.ign: expected the source ${url}, found ${sources.join(', ') || 'none'}`]),
    ...(isTrusted
      ? []
      : ['worker.ign: expected the root-ca of the Ignition config, found another']),
  ];
}

function kubeconfigFaults(text: string, server: string): string[] {
  return text.includes(server) ? [] : [`auth/kubeconfig: expected the server ${server}`];
}
