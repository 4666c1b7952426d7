import { authorityNames, authorityPaths } from '../../../render/kubernetes/authorities.ts';
import type { BackupManifest } from '../manifest.ts';

/** Files of the authorities of its host that a backup does not have; paths on the host. */
export const missingAuthorities = ({ files }: BackupManifest): string[] =>
  authorityNames
    .flatMap((name) => [authorityPaths(name).certificate, authorityPaths(name).key])
    .filter((path) => !files.some(({ host }) => host === path));
