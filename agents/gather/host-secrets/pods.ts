import { basename, join } from 'node:path';
import { isRecord, parseJson } from '../../../lib/base/json.ts';
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
 * The files of one pod with tokens and values of Secrets that are mounted into it. Other volumes are skipped: they are data
 * of the containers. `pod`: its folder in the kubelet's folder of pods.
 */
export async function* podFiles(pod: string, failed: Failed): AsyncGenerator<string> {
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

export async function foldersIn(folder: string, failed: Failed): Promise<string[]> {
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

/** Annotations of containerd and CRI-O with the UID of the pod that a container is of. */
const POD_UID = ['io.kubernetes.cri.sandbox-uid', 'io.kubernetes.pod.uid'] as const;

/** The pod that a container is of, by what the runtime writes into its config.json. */
export function podOfContainer(config: string): string | undefined {
  const parsed = parseJson(config);
  const annotations = isRecord(parsed) ? parsed.annotations : undefined;
  if (!isRecord(annotations)) return undefined;
  const uid = POD_UID.map((name) => annotations[name]).find((one) => typeof one === 'string');
  return uid === undefined ? undefined : podNamed(uid);
}

/** Whose the secrets of a pod are. */
export const podNamed = (uid: string): string => `pod ${uid}`;
