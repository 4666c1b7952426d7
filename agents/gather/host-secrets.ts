import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describeError } from '../../lib/errors/failure.ts';
import { isMissing } from '../../lib/host/files.ts';
import type { Redactor } from '../../lib/secrets/redact/redactor.ts';
import { SecretsIn } from '../../lib/secrets/redact/secrets-in.ts';
import { contentsOf, openRegularFile } from '../../lib/secrets/scan/walk.ts';
import type { GatherHost } from './gather-host.ts';

/** A file, or a folder with everything below it down to a depth. */
type Place = readonly [path: string, depth?: number];

/** Where secrets are; those most often seen in logs come first. */
const PLACES: readonly Place[] = [
  // Registry credentials.
  ['/var/lib/kubelet/config.json'],
  ['/root/.docker', 1],
  ['/root/.config/containers', 1],
  ['/run/containers/0/auth.json'],
  ['/etc/containerd', 4],
  ['/etc/crio', 2],
  // Decided by `sno create` and the installer: proxy, network, URLs.
  ['/etc/sno-agents', 2],
  ['/etc/mco', 1],
  ['/etc/environment'],
  ['/etc/systemd/system.conf.d', 1],
  ['/etc/systemd/system', 2],
  ['/etc/NetworkManager/system-connections', 1],
  ['/run/NetworkManager/system-connections', 1],
  ['/etc/nmstate', 2],
  ['/etc/wpa_supplicant', 1],
  ['/proc/cmdline'],
  ['/etc/shadow'],
  // Keys of the kubelet, the control plane and the operators.
  ['/var/lib/kubelet/pki', 1],
  ['/var/lib/kubelet/kubeconfig'],
  ['/etc/kubernetes', 7],
  ['/etc/mcs', 2],
  ['/etc/ssl/mcs', 1],
  ['/opt/openshift', 4],
  ['/boot/ignition', 1],
  ['/run/ignition.json'],
  ['/root/.ssh', 1],
  ['/etc/ssh', 1],
  // Service account tokens and mounted Secrets, in folders named by time.
  ['/var/lib/kubelet/pods', 6],
];

/** In a pod's folder, only volumes made by Kubernetes itself are small and may hold secrets. */
const POD_VOLUMES = /^kubernetes\.io~(?:projected|secret)$/;
/** Each file is one value of a Secret. */
const MOUNTED = /\/volumes\/kubernetes\.io~|\/static-pod-resources\/.*\/secrets\//;
const MAX_VALUE_BYTES = 8192;
/** Files that never contain secrets as text. */
const OTHER =
  /\.(?:crt|gz|xz|zst|tar|db|snapshot|img|so|pub)$|^known_hosts|^authorized_keys|^ca-bundle/;

/** An Ignition config contains a whole control plane; everything else is small. */
const MAX_IGNITION_BYTES = 32 << 20;
const MAX_FILE_BYTES = 2 << 20;
const MAX_FILES = 5000;
const MAX_TOTAL_BYTES = 128 << 20;
const MAX_SECRETS = 4000;
const DEADLINE_MS = 20_000;

/**
 * The values of the secrets that this host holds, to be found wherever they occur. Files that
 * cannot be read, or not in time, are passed to `failed`; links are not followed. Rejects only
 * when `signal` aborts.
 */
export async function hostSecrets(
  { paths }: Pick<GatherHost, 'paths'>,
  signal: AbortSignal,
  failed: (path: string, reason: string) => void = () => undefined,
): Promise<string[]> {
  const secrets = new SecretsIn(MAX_SECRETS);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const limits = { files: MAX_FILES, bytes: MAX_TOTAL_BYTES };
  const memory = Buffer.alloc(1 << 16);
  for (const [path, depth = 0] of PLACES) {
    for await (const file of filesIn(paths.at(path), depth, failed)) {
      signal.throwIfAborted();
      if (deadline.aborted || limits.files <= 0 || limits.bytes <= 0) {
        failed(file, 'some files could not be searched for secrets');
        return secrets.secrets;
      }
      limits.files -= 1;
      try {
        limits.bytes -= await readFile(file, secrets, memory);
      } catch (error) {
        failed(file, describeError(error));
      }
    }
  }
  return secrets.secrets;
}

/** Returns the number of bytes read. */
async function readFile(path: string, secrets: SecretsIn, memory: Buffer): Promise<number> {
  const limit =
    path.endsWith('.ign') || path.endsWith('ignition.json') ? MAX_IGNITION_BYTES : MAX_FILE_BYTES;
  const file = await openRegularFile(path);
  if (file === undefined) return 0;
  await using handle = file.handle;
  const size = sizeOf(path, file.status.size);
  if (size > limit) throw new Error(`${size} bytes are too large to be searched for secrets`);
  await secrets.read(contentsOf(handle, size, memory), formatOf(path));
  if (MOUNTED.test(path) && size <= MAX_VALUE_BYTES) {
    const { bytesRead } = await handle.read(memory, 0, size, 0);
    await secrets.readValue(basename(path), memory.toString('utf8', 0, bytesRead));
  }
  return size;
}

/** Files of /proc report size 0 until they are read. */
const sizeOf = (path: string, size: number) =>
  size === 0 && path.endsWith('/cmdline') ? 4096 : size;

function formatOf(path: string): keyof Redactor {
  if (/\.(?:json|ign)$/.test(path)) return 'json';
  return /\.ya?ml$|kubeconfig|\.conf$/.test(path) ? 'yaml' : 'text';
}

/** The file, or the files below a folder; none if it does not exist. */
async function* filesIn(
  path: string,
  depth: number,
  failed: (path: string, reason: string) => void,
): AsyncGenerator<string> {
  if (depth === 0) {
    yield path;
    return;
  }
  for (const entry of await entriesOf(path, failed)) {
    const inside = join(path, entry.name);
    if (entry.isFile() && !OTHER.test(entry.name)) yield inside;
    if (entry.isDirectory() && depth > 1 && mayHold(path, entry.name)) {
      yield* filesIn(inside, depth - 1, failed);
    }
  }
}

/** Below a pod's folder, only volumes with tokens and Secrets. */
function mayHold(folder: string, name: string): boolean {
  if (!/\/pods\/[^/]+(?:\/volumes)?$/.test(folder)) return true;
  return folder.endsWith('/volumes') ? POD_VOLUMES.test(name) : name === 'volumes';
}

async function entriesOf(path: string, failed: (path: string, reason: string) => void) {
  try {
    return (await readdir(path, { withFileTypes: true })).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  } catch (error) {
    if (!isMissing(error)) failed(path, describeError(error));
    return [];
  }
}
