import { join } from 'node:path';
import { type ContainerRuntime, connectHostRuntime } from '../cri/runtime.ts';
import { Failure } from '../errors/failure.ts';
import { hostArchitecture } from '../host/architecture.ts';
import { readTextIfPresent, removeFile, sha256OfFile, writeFileAtomic } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';
import { syncFileSystems } from '../host/sync.ts';
import type { Progress } from '../steps/progress.ts';
import { binaryDestinations, installBinaries, installedPath } from './binaries.ts';
import { containerdImporter } from './containerd.ts';
import { crioImporter } from './crio.ts';
import { type ImageImporter, importImages } from './images.ts';
import { type Payload, payloadFile, readPayload } from './payload.ts';
import { hasDigest, verifyPayload } from './verify.ts';

const importDeadlineMs = 300_000;

/**
 * Verifies a payload, imports its images into the runtime and installs its binaries. A payload that
 * another agent has brought since this boot is not verified again while the runtime has its images.
 */
export async function bringPayload(
  folder: string,
  paths: HostPaths,
  progress: Progress,
): Promise<{ images: number; binaries: number }> {
  const { signal } = progress;
  const payload = await readPayload(folder);
  expectArchitecture(payload);
  const digest = await sha256OfFile(join(folder, payloadFile), signal);
  const isBrought =
    (await readTextIfPresent(broughtFile(paths))) === digest &&
    (await hasImages(payload, paths, signal));
  if (!isBrought) {
    await removeFile(broughtFile(paths));
    await verifyPayload(payload, signal);
    await withRuntime(paths, (runtime) =>
      importImages(payload, importerOf(runtime, paths), {
        signal,
        deadlineMs: importDeadlineMs,
        report: (text) => progress.say(text),
      }),
    );
  }
  const written = await installBinaries(payload, binaryDestinations(paths), signal);
  // A runtime does not sync what it unpacks: after a power cut an image could exist by name and
  // digest, with empty files in it. So nothing is reported as done before this.
  if (!isBrought || written.length > 0) {
    await syncFileSystems([paths.binaries, ...stores.map(paths.at)], signal);
  }
  await writeFileAtomic(broughtFile(paths), digest, 0o644);
  return { images: payload.images.length, binaries: payload.binaries.length };
}

/** The digest of the payload that is imported and synced. Like everything in /run, lost in a power cut. */
const broughtFile = ({ run }: HostPaths): string => join(run, 'payload-brought');

/** Images and binaries of another architecture would fail only when started. */
function expectArchitecture({ architecture, directory }: Payload): void {
  const expected = hostArchitecture();
  if (architecture === expected) return;
  throw new Failure('fatal', `The payload in ${directory} is for another architecture`, {
    code: 'payload-mismatch',
    expected,
    found: architecture,
    fix: 'Create the Ignition config with the payload for this architecture.',
  });
}

function importerOf(runtime: ContainerRuntime, paths: HostPaths): ImageImporter {
  return runtime.kind === 'cri-o' ? crioImporter(runtime, paths) : containerdImporter(runtime);
}

/** Where the runtimes unpack images. */
const stores = ['/var/lib/containerd', '/var/lib/containers'];

/** Whether the runtime has every image of the payload, by digest, and each binary is in place. */
export async function payloadIsThere(
  folder: string,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<boolean> {
  const payload = await readPayload(folder);
  return (await hasImages(payload, paths, signal)) && (await hasBinaries(payload, paths, signal));
}

async function hasImages(
  payload: Payload,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<boolean> {
  return withRuntime(paths, async (runtime) => {
    for (const { reference, id } of payload.images) {
      const image = await runtime.imageStatus(reference, { signal, deadlineMs: 10_000 });
      if (image?.id !== id) return false;
    }
    return true;
  });
}

async function hasBinaries(
  payload: Payload,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<boolean> {
  const destinations = binaryDestinations(paths);
  for (const binary of payload.binaries) {
    const path = installedPath(binary, destinations);
    if (!(await hasDigest(path, binary.sha256, signal))) return false;
  }
  return true;
}

async function withRuntime<T>(
  paths: HostPaths,
  use: (runtime: ContainerRuntime) => Promise<T>,
): Promise<T> {
  using runtime = connectHostRuntime(paths);
  return await use(runtime);
}
