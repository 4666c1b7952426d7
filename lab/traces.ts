import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { attachPartition, type Disk } from './host/disk.ts';
import { mount } from './host/mount.ts';
import { Teardown } from './host/teardown.ts';
import { type Trace, tracesOn } from './raw-disk.ts';

/** Long enough to be nowhere by chance. */
const SAMPLE_BYTES = 48;
/** A large file has one in each so many bytes. */
const EVERY_BYTES = 16 << 10;

/** Different bytes in a sample. A run of zeros, in base64 too, is anywhere. */
const LEAST_VARIETY = 12;

/** A file that must not be on a disk, not even in parts. */
export interface GoneFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Parts of the files: of the middle of a small one, and all along a large one. Too little of a file is nowhere alone. */
export function tracesOf(files: readonly GoneFile[]): Trace[] {
  return files.flatMap(({ name, bytes }) => {
    if (bytes.length < 2 * SAMPLE_BYTES) return [];
    const parts = Math.ceil(bytes.length / EVERY_BYTES);
    return Array.from({ length: parts }, (_, part) => {
      const at = Math.floor(((part + 0.5) * bytes.length) / parts - SAMPLE_BYTES / 2);
      const sample = Buffer.from(bytes.subarray(at, at + SAMPLE_BYTES));
      return { name: parts === 1 ? name : `${name} at ${at}`, bytes: sample };
    }).filter(({ bytes }) => new Set(bytes).size >= LEAST_VARIETY);
  });
}

/** The files of a folder, by the names that they have on the host, but for those below `without`. */
export async function filesBelow(
  folder: string,
  onHost: string,
  without?: string,
): Promise<GoneFile[]> {
  const found: GoneFile[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = join(onHost, relative(folder, path));
    if (without !== undefined && name.startsWith(`${without}/`)) continue;
    found.push({ name, bytes: await readFile(path) });
  }
  return found;
}

/** The disk of a host that is off: whoever has it sees this. */
export async function expectNone(
  disk: Disk,
  traces: readonly Trace[],
  signal: AbortSignal,
): Promise<void> {
  const found = await tracesOn(disk.file, traces, signal);
  if (found.length === 0) return;
  throw new Failure('fatal', 'the disk has traces of the bootstrap', { found: found.join(', ') });
}

/** That a file which is written and deleted again is found: one of the traces is. `folder` is empty. */
export async function expectPlanted(
  disk: Disk,
  traces: readonly Trace[],
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const trace = traces.find(({ name }) => name.endsWith('.key')) ?? traces[0];
  if (trace === undefined) throw new Error('nothing is looked for');
  const teardown = new Teardown();
  try {
    const device = await attachPartition(disk, 'root', false, teardown, signal);
    await mount(device, folder, { type: 'ext4' }, teardown, signal);
    const path = join(folder, 'planted');
    await writeFile(path, trace.bytes, { flush: true });
    await rm(path);
  } finally {
    await teardown.run();
  }
  const found = await tracesOn(disk.file, traces, signal);
  const same = traces.filter(({ bytes }) => bytes.equals(trace.bytes));
  const expected = same.map(({ name }) => name).toSorted();
  if (found.join() === expected.join()) return;
  throw new Failure('fatal', 'a deleted file of the bootstrap was not found on the disk', {
    expected: expected.join(', '),
    found: found.join(', ') || 'nothing',
  });
}
