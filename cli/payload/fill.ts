import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Architecture } from '../../lib/host/architecture.ts';
import { run } from '../../lib/host/command.ts';
import { copyFile } from '../../lib/host/copy.ts';
import { sha256OfFiles } from '../../lib/host/digests.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { writeProgramImage } from '../../lib/payload/image/write.ts';
import { type PayloadDescription, payloadFile } from '../../lib/payload/payload.ts';
import { copyPayloadImage } from './copy-image.ts';
import { noting } from './noting.ts';
import type { PayloadPlan, PlannedImage } from './plan.ts';

const SYNC_DEADLINE_MS = 10 * 60_000;

type ImageEntry = Omit<PayloadDescription['images'][number], 'size' | 'sha256'>;
type BinaryEntry = Omit<PayloadDescription['binaries'][number], 'size' | 'sha256'>;

/**
 * Writes the plan's files and payload.yaml into an empty folder, durably. The same
 * plan gives the same bytes. Damage found on the way is added to `faults`.
 */
export async function fillPayload(
  folder: string,
  plan: PayloadPlan,
  faults: string[],
  signal: AbortSignal,
): Promise<void> {
  for (const name of ['images', 'bin', 'cni']) {
    await mkdir(join(folder, name));
    // Regardless of the umask: other users serve the folder or make an ISO of it.
    await chmod(join(folder, name), 0o755);
  }
  const images = await writeImages(folder, plan, faults, signal);
  const binaries = await copyBinaries(folder, plan, signal);
  if (faults.length > 0) return;
  const { architecture, versions } = plan;
  const paths = [...images.map(({ archive }) => archive), ...binaries.map(({ file }) => file)];
  const measured = await measure(folder, paths, signal);
  const description: PayloadDescription = {
    apiVersion: 'sno-agents/v1',
    kind: 'Payload',
    architecture,
    versions,
    images: images.map((entry) => ({ ...entry, ...measured(entry.archive) })),
    binaries: binaries.map((entry) => ({ ...entry, ...measured(entry.file) })),
  };
  await writeDescription(folder, description, signal);
}

/** Writes payload.yaml once all files are there, and makes all of them durable. */
export async function writeDescription(
  folder: string,
  description: PayloadDescription,
  signal: AbortSignal,
): Promise<void> {
  await writeFileAtomic(join(folder, payloadFile), stringify(description), 0o644);
  await run('sync', ['--file-system', folder], { signal, deadlineMs: SYNC_DEADLINE_MS });
}

async function writeImages(
  folder: string,
  { architecture, images }: PayloadPlan,
  faults: string[],
  signal: AbortSignal,
): Promise<ImageEntry[]> {
  const entries: ImageEntry[] = [];
  for (const planned of images) {
    const { name, path } = planned.part;
    const archive = `images/${name}.tar`;
    const target = join(folder, archive);
    await noting(faults, `--image ${name}=${path}`, signal, async () => {
      const id = await writeImage(target, planned, architecture, signal);
      await chmod(target, 0o644);
      entries.push({ name, reference: planned.reference, id, archive });
    });
  }
  return entries;
}

async function writeImage(
  target: string,
  { part, reference }: PlannedImage,
  architecture: Architecture,
  signal: AbortSignal,
): Promise<string> {
  if (part.kind === 'archive') return copyPayloadImage(part.path, part.chosen, target, signal);
  const path = `usr/local/bin/${part.name}`;
  const files = [{ path, source: part.path }];
  const image = { reference, architecture, files, entrypoint: [`/${path}`] };
  return writeProgramImage(target, image, signal);
}

async function copyBinaries(
  folder: string,
  { binaries }: PayloadPlan,
  signal: AbortSignal,
): Promise<BinaryEntry[]> {
  const entries: BinaryEntry[] = [];
  for (const { name, kind, path } of binaries) {
    const file = `${kind === 'cni' ? 'cni' : 'bin'}/${name}`;
    // The user's own path may be a symlink, which copyFile does not follow.
    await copyFile(await realpath(path), join(folder, file), 0o755, signal);
    entries.push({ name, kind, file });
  }
  return entries;
}

/** Size and digest of each file, all hashed at once. */
async function measure(folder: string, files: readonly string[], signal: AbortSignal) {
  const paths = files.map((file) => join(folder, file));
  const digests = await sha256OfFiles(paths, signal);
  const sizes = new Map<string, number>();
  for (const path of paths) sizes.set(path, (await stat(path)).size);
  return (file: string) => {
    const path = join(folder, file);
    return { size: sizes.get(path) ?? 0, sha256: digests.get(path) ?? '' };
  };
}
