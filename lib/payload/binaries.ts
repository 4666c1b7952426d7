import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../base/errors/failure.ts';
import { copyFile } from '../host/copy.ts';
import { sha256OfAnyFile } from '../host/digests.ts';
import { isMissing } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';
import { type Payload, type PayloadBinary, payloadPath } from './payload.ts';
import { type LabelPrograms, labelPrograms } from './selinux.ts';

/** Folders for the two kinds of binaries. */
export interface BinaryDestinations {
  /** kubelet, etcdutl, kubectl: below the agents' state. */
  host: string;
  /** The container runtime's folder for network plugins: `/opt/cni/bin`. */
  cni: string;
}

export const binaryDestinations = (paths: HostPaths): BinaryDestinations => ({
  host: paths.binaries,
  cni: paths.cniBinaries,
});

export const installedPath = (
  { name, kind }: PayloadBinary,
  destinations: BinaryDestinations,
): string => join(destinations[kind], name);

const mode = 0o755;

/**
 * Copies the payload's binaries to their folders, atomically and with the digest
 * stated in payload.yaml; the file of a running program is replaced, not written
 * to. Files that are already in place are left alone. Returns the paths written.
 */
export async function installBinaries(
  payload: Payload,
  destinations: BinaryDestinations,
  signal: AbortSignal,
  label: LabelPrograms = labelPrograms,
): Promise<string[]> {
  const written: string[] = [];
  for (const binary of payload.binaries) {
    const target = installedPath(binary, destinations);
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
  return (await sha256OfAnyFile(target, signal)) === sha256;
}

async function installBinary(
  payload: Payload,
  { file, sha256 }: PayloadBinary,
  target: string,
  signal: AbortSignal,
  label: LabelPrograms,
): Promise<void> {
  await copyFile(await payloadPath(payload, file), target, mode, signal, async (copy) => {
    const found = await sha256OfAnyFile(copy, signal);
    if (found !== sha256) {
      throw new Failure('fatal', `the payload file ${file} is damaged`, {
        code: 'payload-damaged',
        expected: `SHA-256 ${sha256}`,
        found,
        fix: 'Write the live medium again',
      });
    }
    await label([copy], signal);
  });
}
