import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** What other programs read beside an install-config.yaml, and where it goes here. */
const OTHERS: Readonly<Record<string, string>> = {
  'agent-config.yaml':
    'its hosts[0] goes into bootstrapInPlace.networkConfig, hostname and installationDisk',
  'agent-config.yml':
    'its hosts[0] goes into bootstrapInPlace.networkConfig, hostname and installationDisk',
  'install-config.yml': 'only install-config.yaml is read',
  'cluster-manifests': 'its manifests are of the agent-based installer',
  'extra-manifests': 'move its manifests to manifests',
  extra_manifests: 'move its manifests to manifests',
  mirror: 'use imageDigestSources and additionalTrustBundle',
  'kustomization.yaml': 'put what "kustomize build" writes into manifests',
  'kustomization.yml': 'put what "kustomize build" writes into manifests',
};

/** A sentence for each file or folder beside install-config.yaml that a person may expect to be read. */
export async function notReadIn(dir: string): Promise<string[]> {
  const names = await readdir(dir);
  return names.toSorted().flatMap((name) => {
    const instead = Object.hasOwn(OTHERS, name) ? OTHERS[name] : undefined;
    return instead === undefined ? [] : [`${join(dir, name)} is not read: ${instead}`];
  });
}
