import { basename, join } from 'node:path';
import { isRecord, parseJson } from '../../../lib/json.ts';
import { openRegularFile } from '../../../lib/secrets/scan/walk.ts';
import { entriesOf, type Failed, filesBelow } from './files.ts';

/** Volumes that the kubelet fills with tokens and Secrets. */
const KUBERNETES = ['kubernetes.io~projected', 'kubernetes.io~secret'];
const CSI = 'kubernetes.io~csi';
/** Drivers whose volumes contain only secrets. */
const SECRET_DRIVERS: ReadonlySet<unknown> = new Set([
  'secrets-store.csi.k8s.io',
  'csi.cert-manager.io',
  'spiffe.csi.cert-manager.io',
]);
/** A folder named by time, and in it the path of a Secret's item. */
const VOLUME_DEPTH = 8;
/** A folder for each container, and in it a file or folder for each mount. */
const SUBPATH_DEPTH = 2 + VOLUME_DEPTH;
const MAX_VOLUME_DATA = 65_536;

/**
 * Files with tokens and values of Secrets that are mounted into pods. Other volumes are skipped: they
 * are data of the containers. `pods`: the kubelet's folder of pods.
 */
export async function* podFiles(pods: string, failed: Failed): AsyncGenerator<string> {
  for (const pod of await foldersIn(pods, failed)) {
    const volumes: string[] = [];
    for (const plugin of [...KUBERNETES, CSI]) {
      for (const folder of await foldersIn(join(pod, 'volumes', plugin), failed)) {
        if (plugin === CSI && !(await isOfSecrets(folder))) continue;
        volumes.push(basename(folder));
        const values = plugin === CSI ? join(folder, 'mount') : folder;
        yield* filesBelow(values, { depth: VOLUME_DEPTH }, failed);
      }
    }
    // A mount with subPath keeps an old value after the Secret has changed.
    for (const name of volumes) {
      const mounts = join(pod, 'volume-subpaths', name);
      yield* filesBelow(mounts, { depth: SUBPATH_DEPTH }, failed);
    }
  }
}

async function foldersIn(folder: string, failed: Failed): Promise<string[]> {
  const entries = await entriesOf(folder, failed);
  return entries.flatMap(({ name, isFolder }) => (isFolder ? [join(folder, name)] : []));
}

/** The kubelet records the driver of a CSI volume next to it. */
async function isOfSecrets(volume: string): Promise<boolean> {
  const file = await openRegularFile(join(volume, 'vol_data.json'));
  if (file === undefined) return false;
  await using handle = file.handle;
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(MAX_VOLUME_DATA) });
  const data = parseJson(buffer.toString('utf8', 0, bytesRead));
  return isRecord(data) && SECRET_DRIVERS.has(data.driverName);
}
