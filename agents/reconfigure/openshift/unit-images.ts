import { readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { filesOfDaemon } from './touched.ts';

/** An image that no pod names: a unit, a script or the runtime itself starts it. */
export interface UnitImage {
  readonly image: string;
  /** The file that names it. */
  readonly path: string;
}

/** Where the machine-config operator writes what starts images (its templates, 4.19 to 5.0). */
const PLACES = ['/etc/systemd/system/', '/usr/local/bin/', '/etc/crio/crio.conf.d/'];

/** By digest, as every image of a release is named. */
const REFERENCE = /[a-z0-9][\w.-]*(?::\d+)?(?:\/[\w.-]+)+@sha256:[0-9a-f]{64}/g;

/**
 * The images of units and of CRI-O's configuration, each once: nodeip-configuration's, without which a start ends before the kubelet,
 * the machine-config daemon's and the pause image.
 * @throws Failure (fatal) if the daemon's present configuration cannot be read
 */
export async function unitImages(paths: HostPaths): Promise<UnitImage[]> {
  const found = new Map<string, string>();
  for (const path of await filesOfDaemon(paths, PLACES)) {
    const text = (await readTextIfPresent(paths.at(path))) ?? '';
    for (const [image] of text.matchAll(REFERENCE)) if (!found.has(image)) found.set(image, path);
  }
  return [...found].map(([image, path]) => ({ image, path }));
}
