import { mkdir, readFile, rename, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../base/errors/failure.ts';
import { together } from '../base/wait/together.ts';
import { sha256OfAnyFile } from '../host/digests.ts';
import { type FetchOptions, fetchFile } from '../host/fetch.ts';
import { exists, syncDirectory, syncFile } from '../host/files.ts';
import { maxDescriptionBytes, parsePayload, payloadFile } from './payload.ts';
import { unpackFile } from './unpack.ts';
import {
  type DescribedFile,
  hasDigest,
  type PayloadFile,
  payloadFiles,
  storedFile,
} from './verify.ts';

const CONCURRENCY = 4;
/** Reserved for everything else, on a live host in its memory. */
const MARGIN_BYTES = 128 * 1024 ** 2;

export interface PayloadSource {
  /** Of the folder with payload.yaml. */
  readonly url: string;
  /** Of payload.yaml, which contains all other digests. */
  readonly sha256: string;
}

/**
 * Fetches a payload into a folder. payload.yaml is verified before it is read, each
 * file before it appears under its name, decompressed if it is served compressed; a folder with payload.yaml is complete.
 * Files from an earlier attempt are not fetched again. Each is synced before it is renamed: after a
 * power cut, a name could otherwise stand for a file without its contents.
 * @throws Failure: fatal for a wrong digest, lack of space, and whatever a retry
 *   cannot fix.
 */
export async function fetchPayload(
  source: PayloadSource,
  folder: string,
  options: FetchOptions,
): Promise<void> {
  const description = { path: payloadFile, size: maxDescriptionBytes, sha256: source.sha256 };
  if (await hasDigest(join(folder, payloadFile), source.sha256, options.signal)) return;
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const arrived = await fetchVerified(source.url, description, folder, options);
  // Its schema keeps every path inside the folder.
  const payload = parsePayload(await readFile(arrived, 'utf8'), urlOf(source.url, payloadFile));
  const files = await missingFiles(payloadFiles(payload), folder, options.signal);
  await requireRoom(files, folder);
  const { signal } = options;
  await together(files, { signal, concurrency: CONCURRENCY }, (file, signal) =>
    fetchOne(source.url, file, folder, { ...options, signal }),
  );
  await publish(arrived, join(folder, payloadFile));
}

async function fetchOne(url: string, file: DescribedFile, folder: string, limits: FetchOptions) {
  const target = join(folder, file.path);
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  const stored = storedFile(file);
  const arrived = await fetchVerified(url, stored, folder, limits);
  if (file.zstd === undefined) return publish(arrived, target);
  const compressed = { source: arrived, name: urlOf(url, stored.path) };
  // Removed first: with the file in place, nothing would look for what it was made of.
  await unpackFile(compressed, target, file, limits.signal, () => rm(arrived));
}

async function publish(arrived: string, target: string): Promise<void> {
  await syncFile(arrived);
  await rename(arrived, target);
  await syncDirectory(dirname(target));
}

/** The path of the verified file, beside its final name. */
async function fetchVerified(
  base: string,
  file: PayloadFile,
  folder: string,
  options: FetchOptions,
): Promise<string> {
  const { path, size, sha256 } = file;
  const url = urlOf(base, path);
  const target = join(folder, dirname(path), `.${basename(path)}.part`);
  const begun = await exists(target);
  await fetchFile(url, target, size, options);
  const found = await sha256OfAnyFile(target, options.signal);
  if (found === sha256) return target;
  await rm(target);
  // Its beginning may be from an earlier attempt, before the served file was changed.
  if (begun) return fetchVerified(base, file, folder, options);
  throw new Failure('fatal', `${url} is not the file that this installation was created for`, {
    code: 'payload-mismatch',
    expected: `SHA-256 ${sha256}`,
    found,
    fix: 'Serve that payload, or create the Ignition config for this one.',
  });
}

/** @throws Failure (fatal) if they do not all fit. */
async function requireRoom(files: readonly DescribedFile[], folder: string): Promise<void> {
  // While one is decompressed, it is there in both forms.
  const meanwhile = files.map(({ zstd }) => zstd?.size ?? 0).toSorted((a, b) => b - a);
  const sizes = [...files.map(({ size }) => size), ...meanwhile.slice(0, CONCURRENCY)];
  const needed = sizes.reduce((sum, size) => sum + size, 0);
  const { bavail, bsize } = await statfs(folder);
  const room = Math.max(0, bavail * bsize - MARGIN_BYTES);
  if (needed <= room) return;
  throw new Failure('fatal', `Not enough space for the payload in ${folder}`, {
    code: 'disk-full',
    expected: `${needed} bytes`,
    found: `${room}`,
    fix: 'Free space on its file system. A live host needs more memory.',
  });
}

async function missingFiles(
  files: readonly DescribedFile[],
  folder: string,
  signal: AbortSignal,
): Promise<DescribedFile[]> {
  const missing = new Map<string, DescribedFile>();
  for (const file of files) {
    if (!(await hasDigest(join(folder, file.path), file.sha256, signal)))
      missing.set(file.path, file);
  }
  return [...missing.values()];
}

const urlOf = (base: string, path: string) => `${base.replace(/\/$/, '')}/${path}`;
