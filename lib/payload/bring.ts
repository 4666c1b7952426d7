import { join } from 'node:path';
import { Failure } from '../base/errors/failure.ts';
import type { Limits } from '../base/wait/limits.ts';
import { type ContainerRuntime, connectHostRuntime } from '../clients/cri/runtime.ts';
import type { Progress } from '../engine/steps/progress.ts';
import { hostArchitecture } from '../host/architecture.ts';
import { readTextIfReadable, removeFile, sha256OfFile, writeFileAtomic } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';
import { syncFileSystems } from '../host/sync.ts';
import { binaryDestinations, installBinaries, installedPath } from './binaries.ts';
import { containerdImporter } from './containerd.ts';
import { crioImporter } from './crio.ts';
import { hasSandboxImage, type ImageImporter, type ImportResult, importImages } from './images.ts';
import { readImported, writeImported } from './imported.ts';
import { type Payload, payloadFile, readPayload } from './payload.ts';
import { hasDigest, verifyPayload } from './verify.ts';

const importDeadlineMs = 300_000;

/**
 * Imports the images of a payload into the runtime and installs its binaries, each verified on the way: by the runtime,
 * as it unpacks them, and by their digests. A payload that another agent has brought since this boot is not looked at
 * again while the runtime has its images.
 */
export async function bringPayload(
  folder: string,
  paths: HostPaths,
  progress: Progress,
): Promise<{ images: number; binaries: number }> {
  const { signal } = progress;
  const payload = await readPayload(folder);
  expectArchitecture(payload);
  const isBrought =
    (await isBroughtSinceBoot(folder, paths, signal)) && (await hasImages(payload, paths, signal));
  // The runtime computes while the disk writes binaries. Each ends before this does, also if the other fails.
  const [images, binaries] = await Promise.allSettled([
    isBrought ? undefined : bringImages(payload, paths, progress),
    installBinaries(payload, binaryDestinations(paths), signal),
  ]);
  if (images.status === 'rejected') throw images.reason;
  if (binaries.status === 'rejected') throw binaries.reason;
  const { value: result } = images;
  const { value: written } = binaries;
  // A runtime does not sync what it unpacks: after a power cut an image could exist by name and
  // digest, with empty files in it. So nothing is reported as done before this.
  if (!isBrought || written.length > 0) {
    await syncFileSystems([paths.binaries, ...stores.map(paths.at)], signal);
  }
  if (result !== undefined) await writeImported(paths, result.whole);
  await writeFileAtomic(broughtFile(paths), await digestOf(folder, signal), 0o644);
  return { images: payload.images.length, binaries: payload.binaries.length };
}

async function bringImages(
  payload: Payload,
  paths: HostPaths,
  progress: Progress,
): Promise<ImportResult> {
  const { signal } = progress;
  await removeFile(broughtFile(paths));
  return withRuntime(paths, async (runtime) => {
    const importer = importerOf(runtime, paths);
    const limits = { signal, deadlineMs: importDeadlineMs };
    const imported = await stillImported(payload, importer, paths, limits);
    return importImages(payload, importer, {
      ...limits,
      imported,
      report: (text) => progress.say(text),
      warn: (sentence) => progress.warn(sentence),
      verify: () => verifyPayload(payload, signal),
    });
  });
}

/**
 * The recorded images that the runtime still has. The others are taken out of the record before they are imported: it
 * would vouch for files that are not yet on the disk.
 */
async function stillImported(
  { images }: Payload,
  importer: ImageImporter,
  paths: HostPaths,
  limits: Limits,
): Promise<ReadonlySet<string>> {
  const recorded = await readImported(paths);
  const still = new Set(recorded);
  for (const { reference, id } of images) {
    if ((await importer.find(reference, limits))?.id !== id) still.delete(id);
  }
  if (still.size < recorded.size) await writeImported(paths, still);
  return still;
}

/** The digest of the payload that is imported and synced. Like everything in /run, lost in a power cut. */
const broughtFile = ({ run }: HostPaths): string => join(run, 'payload-brought');

const digestOf = (folder: string, signal: AbortSignal): Promise<string> =>
  sha256OfFile(join(folder, payloadFile), signal);

const isBroughtSinceBoot = async (
  folder: string,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<boolean> =>
  (await readTextIfReadable(broughtFile(paths))) === (await digestOf(folder, signal));

/** Has the next run compare every image with the payload, as if none were known to be on the disk. Durable. */
export async function distrustImages(paths: HostPaths): Promise<void> {
  await removeFile(broughtFile(paths));
  await writeImported(paths, []);
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

function importerOf(runtime: ContainerRuntime, paths: HostPaths): ImageImporter {
  return runtime.kind === 'cri-o'
    ? crioImporter(runtime, paths)
    : containerdImporter(runtime, paths.at(containerdRoot));
}

const containerdRoot = '/var/lib/containerd';

/** Where the runtimes unpack images. */
const stores = [containerdRoot, '/var/lib/containers'];

/**
 * Whether the runtime has every image of the payload, by digest, with files that are on the disk, and each binary is
 * in place.
 */
export async function payloadIsThere(
  folder: string,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<boolean> {
  const payload = await readPayload(folder);
  return (
    (await areOnDisk(folder, payload, paths, signal)) &&
    (await hasImages(payload, paths, signal)) &&
    (await hasBinaries(payload, paths, signal))
  );
}

async function areOnDisk(
  folder: string,
  { images }: Payload,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<boolean> {
  if (await isBroughtSinceBoot(folder, paths, signal)) return true;
  const imported = await readImported(paths);
  return images.every(({ id }) => imported.has(id));
}

async function hasImages(
  payload: Payload,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<boolean> {
  const limits = { signal, deadlineMs: 10_000 };
  return withRuntime(paths, async (runtime) => {
    for (const { reference, id } of payload.images) {
      const image = await runtime.imageStatus(reference, limits);
      if (image?.id !== id) return false;
    }
    return hasSandboxImage(payload.images, importerOf(runtime, paths), limits);
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
