import { mkdir, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { run } from '../../lib/host/command.ts';
import { copyFile } from '../../lib/host/copy.ts';
import { sha256OfFiles } from '../../lib/host/digests.ts';
import { writeProgramImage } from '../../lib/image/write.ts';
import { type PayloadDescription, payloadFile } from '../../lib/payload/payload.ts';
import { copyImage } from './copy-image.ts';
import { noting } from './noting.ts';
import type { PayloadPlan } from './plan.ts';

const SYNC_DEADLINE_MS = 10 * 60_000;

type ImageEntry = Omit<PayloadDescription['images'][number], 'size' | 'sha256'>;
type BinaryEntry = Omit<PayloadDescription['binaries'][number], 'size' | 'sha256'>;

/**
 * Writes the plan's files and payload.yaml into an empty folder, durably. The same plan gives
 * the same bytes. What is found damaged on the way goes to `faults`.
 */
export async function fillPayload(
  folder: string,
  plan: PayloadPlan,
  faults: string[],
  signal: AbortSignal,
): Promise<void> {
  for (const name of ['images', 'bin', 'cni']) await mkdir(join(folder, name), { mode: 0o755 });
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
  await writeFile(join(folder, payloadFile), stringify(description), { mode: 0o644 });
  await run('sync', ['--file-system', folder], { signal, deadlineMs: SYNC_DEADLINE_MS });
}

async function writeImages(
  folder: string,
  { architecture, images }: PayloadPlan,
  faults: string[],
  signal: AbortSignal,
): Promise<ImageEntry[]> {
  const entries: ImageEntry[] = [];
  for (const { part, reference } of images) {
    const { name, path } = part;
    const archive = `images/${name}.tar`;
    const target = join(folder, archive);
    await noting(faults, `--image ${name}=${path}`, signal, async () => {
      if (part.kind === 'archive') {
        await copyImage(path, part.chosen, target, signal);
        entries.push({ name, reference, id: part.chosen.image.id, archive });
        return;
      }
      const inImage = `usr/local/bin/${name}`;
      const files = [{ path: inImage, source: path }];
      const image = { reference, architecture, files, entrypoint: [`/${inImage}`] };
      entries.push({
        name,
        reference,
        id: await writeProgramImage(target, image, signal),
        archive,
      });
    });
  }
  return entries;
}

async function copyBinaries(
  folder: string,
  { binaries }: PayloadPlan,
  signal: AbortSignal,
): Promise<BinaryEntry[]> {
  const entries: BinaryEntry[] = [];
  for (const { name, kind, path } of binaries) {
    const file = `${kind === 'cni' ? 'cni' : 'bin'}/${name}`;
    // The user's own path may be a link, which is not what is copied.
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
