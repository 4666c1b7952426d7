import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { suggest } from '../../lib/base/errors/suggest.ts';
import { BACKUP_TO } from '../../lib/change/backup/push/backup-to.ts';
import { REPORT_TO } from '../../lib/engine/report/report-to.ts';
import { VOLUME_FILES } from '../../lib/relocation/site-volume/volume.ts';
import { INSTALL_CONFIG } from '../install-config/file-name.ts';
import { MANIFEST_FOLDERS } from './user-manifests.ts';

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
  'settings.json': 'name it with --settings',
  mirror: 'use imageDigestSources and additionalTrustBundle',
  'kustomization.yaml': 'put what "kustomize build" writes into manifests',
  'kustomization.yml': 'put what "kustomize build" writes into manifests',
};

const OTHERS_OF_SITE: typeof OTHERS = {
  manifests: 'move its manifests to extra-manifests',
  openshift: 'move its manifests to extra-manifests',
};

/** What is read beside either file. */
const READ = [REPORT_TO, BACKUP_TO];

/** A sentence for each file or folder beside install-config.yaml that a person may expect to be read. */
export async function notReadIn(dir: string): Promise<string[]> {
  return sentences(dir, await readdir(dir), OTHERS, [...MANIFEST_FOLDERS, ...READ]);
}

/** The same for site-config.yaml. What an install-config.yaml there reads is not meant for the site. */
export async function notReadBySite(dir: string): Promise<string[]> {
  const names = await readdir(dir);
  if (names.includes(INSTALL_CONFIG)) return [];
  return sentences(dir, names, OTHERS_OF_SITE, [VOLUME_FILES.manifests, ...READ]);
}

/** `read`: names that are read, one of which a similar one may be meant to be. */
function sentences(
  dir: string,
  names: readonly string[],
  others: typeof OTHERS,
  read: readonly string[],
): string[] {
  return names.toSorted().flatMap((name) => {
    if (read.includes(name)) return [];
    const meant = suggest(name, read);
    const instead = Object.hasOwn(others, name) ? others[name] : meant && `did you mean ${meant}?`;
    return instead === undefined ? [] : [`${join(dir, name)} is not read: ${instead}`];
  });
}
