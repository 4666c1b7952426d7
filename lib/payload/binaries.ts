import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isMissing, sha256OfFile, syncDirectory } from '../host/files.ts';
import { Failure } from '../steps/failure.ts';
import { openPayloadFile, type Payload, type PayloadBinary } from './payload.ts';
import { type LabelPrograms, labelPrograms } from './selinux.ts';

/** Folders for the two kinds of binaries. */
export interface BinaryDestinations {
  /** kubelet, etcdutl, kubectl: below the agents' state. */
  host: string;
  /** Where the container runtime looks for network plugins: `/opt/cni/bin`. */
  cni: string;
}

const mode = 0o755;

/**
 * Copies the payload's binaries to their folders, each whole or not at all and
 * with the digest that payload.yaml states; a running program's file is replaced, not
 * written to. What is there already is left alone. Returns the paths written.
 */
export async function installBinaries(
  payload: Payload,
  destinations: BinaryDestinations,
  signal: AbortSignal,
  label: LabelPrograms = labelPrograms,
): Promise<string[]> {
  const written: string[] = [];
  for (const binary of payload.binaries) {
    const target = join(destinations[binary.kind], binary.name);
    if (await isInstalled(target, binary.sha256, signal)) continue;
    await installBinary(payload, binary, target, signal, label);
    written.push(target);
  }
  return written;
}

async function isInstalled(target: string, sha256: string, signal: AbortSignal): Promise<boolean> {
  try {
    const found = await lstat(target);
    if (!found.isFile() || (found.mode & 0o7777) !== mode) return false;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
  return (await sha256OfFile(target, signal)) === sha256;
}

async function installBinary(
  payload: Payload,
  { file, sha256 }: PayloadBinary,
  target: string,
  signal: AbortSignal,
  label: LabelPrograms,
): Promise<void> {
  const source = await openPayloadFile(payload, file);
  const beside = join(dirname(target), `.${basename(target)}.new`);
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o755 });
    await rm(beside, { force: true });
    const found = await copyAndHash(source, beside, signal);
    if (found !== sha256) {
      throw new Failure('fatal', `${file} of the payload is damaged`, {
        expected: `SHA-256 ${sha256}`,
        found,
        fix: 'Write the live medium again',
      });
    }
    await label([beside], signal);
    await rename(beside, target);
    await syncDirectory(dirname(target));
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  } finally {
    await source.close();
  }
}

async function copyAndHash(source: FileHandle, path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(1 << 20);
  const copy = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  try {
    // The creation's mode is subject to the umask.
    await copy.chmod(mode);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await source.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      const piece = buffer.subarray(0, bytesRead);
      hash.update(piece);
      await copy.writeFile(piece);
    }
    await copy.sync();
  } finally {
    await copy.close();
  }
  return hash.digest('hex');
}
