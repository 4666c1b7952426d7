import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import { syncDirectory } from '../../host/files.ts';
import type { EtcdClient, SnapshotPiece } from './client.ts';

export interface Snapshot {
  path: string;
  /** Size and SHA-256 (hex) of the whole file, including the digest at its end. */
  bytes: number;
  sha256: string;
  /** The revision of the snapshot: nothing was written while it was taken. */
  revision: number;
  /** Storage version, such as `3.6.0`. */
  version: string;
}

const digestBytes = 32;
/** etcd sends pieces of 32 KiB: one system call for each would take longer than the disk. */
const gatheredBytes = 1 << 20;

/**
 * Streams the member's database to `target` (mode 0600), as `etcdctl snapshot save`
 * does: the database, then its SHA-256, which `etcdutl snapshot restore` verifies.
 * The file appears at `target` only when it is complete, verified and synced. Call
 * it when the revision is stable; a write during the snapshot is an error.
 */
export async function takeSnapshot(
  client: EtcdClient,
  target: string,
  { signal, deadlineMs }: Limits,
): Promise<Snapshot> {
  const limits = { signal, deadlineMs };
  const partial = `${target}.partial`;
  const before = await client.revision(limits);
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  await rm(partial, { force: true });
  try {
    const written = await saveSnapshot(client, partial, limits);
    expectUnchanged(before, await client.revision(limits));
    await rename(partial, target);
    await syncDirectory(dirname(target));
    return { path: target, revision: before, ...written };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/**
 * The same of an etcd in use: it is the database at some revision between the begin and the end of
 * the call. Creates `path`, verified and synced; after an error it may be incomplete.
 */
export function saveSnapshot(client: EtcdClient, path: string, limits: Limits) {
  return writePieces(
    client.snapshotPieces(limits),
    createWriteStream(path, {
      flags: 'wx',
      mode: 0o600,
      // Collects what arrives during a write, up to this size, and writes it in one call.
      highWaterMark: gatheredBytes,
      // Synced before it is closed; a failed sync fails the snapshot.
      flush: true,
    }),
  );
}

/** Writes the pieces as they arrive and verifies the digest at their end. */
export async function writePieces(
  pieces: AsyncIterable<SnapshotPiece>,
  target: NodeJS.WritableStream,
): Promise<Pick<Snapshot, 'bytes' | 'sha256' | 'version'>> {
  const digest = new DigestAtEnd();
  let announced: number | undefined;
  let version = '';
  const passed = async function* () {
    for await (const piece of pieces) {
      announced ??= piece.bytes.length + piece.remainingBytes;
      version ||= piece.version;
      digest.update(piece.bytes);
      yield piece.bytes;
    }
  };
  await pipeline(passed, target);
  expectComplete(digest.bytes, announced);
  const { ofAll, ofDatabase, atEnd } = digest.finish();
  expectDigest(ofDatabase, atEnd);
  return { bytes: digest.bytes, sha256: ofAll, version };
}

/** Computes the digest of a stream that ends with its own digest: the last bytes are held back. */
class DigestAtEnd {
  bytes = 0;
  readonly #hash = createHash('sha256');
  #held = Buffer.alloc(0);

  update(piece: Uint8Array): void {
    this.bytes += piece.length;
    const passes = Math.max(0, this.#held.length + piece.length - digestBytes);
    const ofHeld = Math.min(passes, this.#held.length);
    this.#hash.update(this.#held.subarray(0, ofHeld));
    this.#hash.update(piece.subarray(0, passes - ofHeld));
    this.#held = Buffer.concat([this.#held.subarray(ofHeld), piece.subarray(passes - ofHeld)]);
  }

  finish(): { ofAll: string; ofDatabase: string; atEnd: string } {
    const all = this.#hash.copy().update(this.#held);
    return {
      ofAll: all.digest('hex'),
      ofDatabase: this.#hash.digest('hex'),
      atEnd: this.#held.toString('hex'),
    };
  }
}

function expectComplete(bytes: number, announced = 0): void {
  if (announced > 0 && bytes === announced + digestBytes) return;
  throw new Failure('retry', 'The snapshot from etcd is incomplete', {
    expected: `${announced} bytes and a digest of ${digestBytes}`,
    found: `${bytes} bytes`,
  });
}

function expectDigest(computed: string, sent: string): void {
  if (computed === sent) return;
  throw new Failure('retry', 'The snapshot from etcd was corrupted in transit', {
    expected: `SHA-256 ${sent}`,
    found: computed,
  });
}

function expectUnchanged(before: number, after: number): void {
  if (before === after) return;
  throw new Failure('retry', 'etcd revision changed during the snapshot', {
    expected: `revision ${before}`,
    found: `revision ${after}`,
    fix: 'Stop the API server before the snapshot',
  });
}
