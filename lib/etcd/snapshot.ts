import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../host/files.ts';
import { Failure } from '../steps/failure.ts';
import type { EtcdClient, SnapshotPiece } from './client.ts';

export interface Snapshot {
  path: string;
  /** Size and SHA-256 (hex) of the file as a whole, the digest at its end included. */
  bytes: number;
  sha256: string;
  /** The revision that the snapshot holds: nothing was written while it was taken. */
  revision: number;
  /** Storage version, such as `3.6.0`. */
  version: string;
}

export interface SnapshotOptions {
  signal: AbortSignal;
  deadlineMs: number;
}

const digestBytes = 32;

/**
 * Streams the member's database to `target` (mode 0600), the way `etcdctl snapshot
 * save` does: the database, then its SHA-256, which `etcdutl snapshot restore`
 * verifies. The file appears at `target` only when it is complete, verified and on
 * the disk. Take it when the revision is stable; a write meanwhile is an error.
 */
export async function takeSnapshot(
  client: EtcdClient,
  target: string,
  { signal, deadlineMs }: SnapshotOptions,
): Promise<Snapshot> {
  const limits = { signal, deadlineMs };
  const partial = `${target}.partial`;
  const before = await client.revision(limits);
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  await rm(partial, { force: true });
  try {
    const written = await writeSnapshotFile(partial, client.snapshotPieces(limits));
    expectUnchanged(before, await client.revision(limits));
    await rename(partial, target);
    await syncDirectory(dirname(target));
    return { path: target, revision: before, ...written };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeSnapshotFile(path: string, pieces: AsyncIterable<SnapshotPiece>) {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const written = await writePieces(pieces, file);
    await file.sync();
    return written;
  } finally {
    await file.close();
  }
}

/**
 * Writes the pieces one after the other, so that no more than one is in memory,
 * and holds back the last 32 bytes from the database's digest, which they are.
 */
export async function writePieces(
  pieces: AsyncIterable<SnapshotPiece>,
  file: Pick<FileHandle, 'writeFile'>,
): Promise<Pick<Snapshot, 'bytes' | 'sha256' | 'version'>> {
  const hash = createHash('sha256');
  let tail = Buffer.alloc(0);
  let bytes = 0;
  let announced: number | undefined;
  let version = '';
  for await (const piece of pieces) {
    announced ??= piece.bytes.length + piece.remainingBytes;
    version ||= piece.version;
    bytes += piece.bytes.length;
    await file.writeFile(piece.bytes);
    const held = Buffer.concat([tail, piece.bytes]);
    const cut = Math.max(0, held.length - digestBytes);
    hash.update(held.subarray(0, cut));
    tail = Buffer.from(held.subarray(cut));
  }
  expectComplete(bytes, announced);
  const whole = hash.copy().update(tail);
  expectDigest(hash.digest('hex'), tail.toString('hex'));
  return { bytes, sha256: whole.digest('hex'), version };
}

function expectComplete(bytes: number, announced = 0): void {
  if (announced > 0 && bytes === announced + digestBytes) return;
  throw new Failure('retry', 'The snapshot from etcd is not complete', {
    expected: `${announced} bytes and a digest of ${digestBytes}`,
    found: `${bytes} bytes`,
  });
}

function expectDigest(computed: string, sent: string): void {
  if (computed === sent) return;
  throw new Failure('retry', 'The snapshot from etcd was damaged on its way', {
    expected: `SHA-256 ${sent}`,
    found: computed,
  });
}

function expectUnchanged(before: number, after: number): void {
  if (before === after) return;
  throw new Failure('retry', 'Something was written to etcd while the snapshot was taken', {
    expected: `revision ${before}`,
    found: `revision ${after}`,
    fix: 'Stop the API server before the snapshot',
  });
}
