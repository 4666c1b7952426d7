import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { tarEntries } from '../../../lib/base/archive/tar.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { sha256OfAnyFile } from '../../../lib/host/digests.ts';
import { fetchFile } from '../../../lib/host/fetch.ts';
import { ifMissing } from '../../../lib/host/files.ts';
import { decompressed } from '../../../lib/payload/image/compression.ts';
import { again } from './again.ts';
import { checksumIn } from './checksums.ts';
import type { PartStore } from './store.ts';

/** A file of a download site, whose contents are known. */
export interface KnownDownload {
  readonly name: string;
  /** The original address. */
  readonly url: string;
  /** Where it is fetched. */
  readonly from: string;
  readonly sha256: string;
  /** Undefined: only the SHA-256 is known. */
  readonly size: number | undefined;
}

const MAX_TEXT_BYTES = 1 << 20;
/** Several times the largest program of Kubernetes. */
const MAX_FILE_BYTES = 1 << 30;
const TEXT_MS = 2 * 60_000;
const FILE_MS = 2 * 60 * 60_000;

export interface FetchReporting {
  readonly signal: AbortSignal;
  report(line: string): void;
}

/** A short text of a download site. @throws Failure */
export async function fetchText(url: string, { signal, report }: FetchReporting): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'sno-fetch-'));
  const target = join(work, 'text');
  try {
    await again(() => fetchOnce(url, target, MAX_TEXT_BYTES, TEXT_MS, signal), {
      signal,
      bytes: async () => 0,
      report: ({ message }) => report(`Trying again: ${message}`),
    });
    return await readFile(target, 'utf8');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The SHA-256 of a file, as its site states it. @throws Failure */
export async function statedChecksum(
  checksums: string,
  url: string,
  reporting: FetchReporting,
): Promise<string> {
  const name = url.slice(url.lastIndexOf('/') + 1);
  const sum = checksumIn(await fetchText(checksums, reporting), name);
  if (sum !== undefined) return sum;
  throw new Failure('usage', `${checksums} has no SHA-256 of ${name}; nothing was written`, {
    fix: 'Correct the mirror: it must serve the file as its original site does.',
  });
}

/** Fetches a file into the store, from where an earlier attempt ended. Returns its size. @throws Failure */
export async function fetchDownload(
  download: KnownDownload,
  store: PartStore,
  reporting: FetchReporting,
): Promise<number> {
  const { sha256, size } = download;
  const { signal, report } = reporting;
  if (!(await store.has(sha256, signal))) {
    await again(() => fetchVerified(download, store, signal), {
      signal,
      bytes: () => sizeOf(store.partialOf(sha256)),
      report: ({ message }) => report(`Trying again: ${message}`),
    });
  }
  const found = await sizeOf(store.pathOf(sha256));
  if (size === undefined || size === found) return found;
  throw new Failure('usage', `the lock does not fit ${download.from}; nothing was written`, {
    expected: `${size} bytes`,
    found: `${found} with the same SHA-256`,
    fix: 'Use the lock as it was written.',
  });
}

async function fetchVerified(
  download: KnownDownload,
  store: PartStore,
  signal: AbortSignal,
): Promise<void> {
  const { from, sha256, size = MAX_FILE_BYTES } = download;
  const partial = store.partialOf(sha256);
  const begun = await sizeOf(partial);
  // Killed before it got its name.
  if (begun > 0 && (await sha256OfAnyFile(partial, signal)) === sha256) return store.adopt(sha256);
  await fetchOnce(from, partial, size, FILE_MS, signal);
  const found = await sha256OfAnyFile(partial, signal);
  if (found === sha256) return store.adopt(sha256);
  await rm(partial);
  // Its beginning may be what another server, or the same one at another time, served.
  if (begun > 0) return fetchVerified(download, store, signal);
  throw new Failure('usage', `${from} is not the file that its SHA-256 says; nothing was written`, {
    code: 'payload-mismatch',
    expected: `SHA-256 ${sha256}`,
    found,
    fix: 'Use another mirror (--downloads), or repair this one. With --lock, it must serve the file that is locked.',
  });
}

async function fetchOnce(
  url: string,
  target: string,
  maxBytes: number,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await fetchFile(url, target, maxBytes, { signal, deadlineMs });
  } catch (error) {
    throw error instanceof Failure ? forPerson(error, url) : error;
  }
}

/** What a retry cannot help is a usage error here: a person has to mend an address or a mirror. */
function forPerson(failure: Failure, url: string): Failure {
  const { kind, what, code, details } = failure;
  if (code === 'disk-full') return new Failure('usage', what, { ...details, code });
  // curl's code for a certificate that it does not trust.
  if (/curl ended with 60$/.test(details.found ?? '')) {
    const { host } = new URL(url);
    return new Failure('usage', what, {
      expected: 'HTTPS with a certificate that is trusted here',
      found: (details.found ?? '').split(' | ')[0] ?? '',
      fix: `Add the authority of ${host} to the trusted ones of this machine, or name its file in SSL_CERT_FILE.`,
    });
  }
  if (kind !== 'fatal') return failure;
  const fix = 'Check the version, and that a mirror (--downloads) has the file in this place.';
  return new Failure('usage', what, { ...details, code, fix });
}

const sizeOf = async (path: string): Promise<number> =>
  (await stat(path).catch(ifMissing))?.size ?? 0;

const LIMITS = { entries: 1000, bytes: 4 * 2 ** 30 };

/**
 * Writes programs of a tar archive, compressed with gzip, into the store; they are at its top or in one folder. Returns
 * their paths by name. @throws Failure (usage) if one is missing
 */
export async function unpackPrograms(
  { name, from, sha256 }: KnownDownload,
  programs: readonly string[],
  store: PartStore,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const source = decompressed(createReadStream(store.pathOf(sha256)));
  for await (const entry of tarEntries(source, signal, LIMITS, name)) {
    const [, program = ''] = /^(?:[^/]+\/)?([^/]+)$/.exec(entry.name) ?? [];
    if (entry.type !== 'file' || !programs.includes(program)) continue;
    const path = store.readyOf(program);
    await pipeline(entry.content, createWriteStream(path), { signal });
    found.set(program, path);
  }
  const missing = programs.filter((program) => !found.has(program));
  if (missing.length === 0) return found;
  throw new Failure('usage', `${from} has no ${missing.join(', ')}; nothing was written`, {
    fix: 'Correct the mirror: it must serve the archive as its original site does.',
  });
}
