import { isPath } from '../../config/site-config/certificates.ts';
import { VOLUME_FILES } from './volume.ts';

const OUTSIDE: readonly string[] = [VOLUME_FILES.manifest, VOLUME_FILES.signature];

/** A path that a manifest may list: below the volume, of safe characters, and none of the files that the manifest is in. */
export const isVolumePath = (path: string): boolean =>
  isPath(path) && !OUTSIDE.includes(path.toLowerCase());

export const isManifestPath = (path: string): boolean =>
  path.startsWith(`${VOLUME_FILES.manifests}/`) && /\.(ya?ml|json)$/.test(path);
