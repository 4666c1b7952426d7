import { type ContainerRuntime, connectHostRuntime } from '../cri/runtime.ts';
import { Failure } from '../errors/failure.ts';
import { hostArchitecture } from '../host/architecture.ts';
import type { HostPaths } from '../host/paths.ts';
import { syncFileSystems } from '../host/sync.ts';
import type { Progress } from '../steps/progress.ts';
import { binaryDestinations, installBinaries, installedPath } from './binaries.ts';
import { containerdImporter } from './containerd.ts';
import { importImages } from './images.ts';
import { type Payload, readPayload } from './payload.ts';
import { hasDigest, verifyPayload } from './verify.ts';

const importDeadlineMs = 300_000;

/** Verifies a payload, imports its images into the runtime and installs its binaries. */
export async function bringPayload(
  folder: string,
  paths: HostPaths,
  progress: Progress,
): Promise<{ images: number; binaries: number }> {
  const payload = await readPayload(folder);
  expectArchitecture(payload);
  await verifyPayload(payload, progress.signal);
  await withRuntime(paths, (runtime) =>
    importImages(payload, containerdImporter(runtime), {
      signal: progress.signal,
      deadlineMs: importDeadlineMs,
      report: (text) => progress.say(text),
    }),
  );
  await installBinaries(payload, binaryDestinations(paths), progress.signal);
  // A runtime does not sync what it unpacks: after a power cut an image could exist by name and
  // digest, with empty files in it. So nothing is reported as done before this.
  await syncFileSystems([paths.binaries, ...stores.map(paths.at)], progress.signal);
  return { images: payload.images.length, binaries: payload.binaries.length };
}

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
