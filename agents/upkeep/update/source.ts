import { constants } from 'node:fs';
import { lstat, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { isBadPath, systemErrorWords } from '../../../lib/base/errors/system-error.ts';
import { systemErrorCode } from '../../../lib/base/errors/system-error-code.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import {
  MAX_MANIFEST_BYTES,
  UPDATE_FILES,
  type UpdateManifest,
} from '../../../lib/change/update/manifest.ts';
import type { Cluster } from '../../../lib/config/cluster/cluster.ts';
import { copyFile } from '../../../lib/host/copy.ts';
import { sha256OfAnyFile } from '../../../lib/host/digests.ts';
import { fetchFile } from '../../../lib/host/fetch.ts';
import { ifMissing, isMissing, sha256, syncFile } from '../../../lib/host/files.ts';
import { withWorkFolder } from '../../../lib/host/work-folder.ts';
import { copyPayloadTo } from '../../../lib/payload/copy.ts';
import { fetchPayload } from '../../../lib/payload/fetch.ts';
import { maxDescriptionBytes, payloadFile, payloadIn } from '../../../lib/payload/payload.ts';
import { payloadFiles } from '../../../lib/payload/verify.ts';
import type { SignedText } from '../../../lib/pki/signature/ssh-signature.ts';

/** Where an update comes from: a folder, or a URL below which are the same files. */
export interface UpdateSource {
  /** Manifest and signature, not verified. `work`: a folder that does not exist yet. */
  signed(work: string, limits: Limits): Promise<SignedText>;
  /** Writes the executable; the caller verifies it. */
  executable(target: string, size: number, limits: Limits): Promise<void>;
  /** Writes the payload with that digest of payload.yaml, every file verified. */
  payload(target: string, payload: UpdateManifest['payload'], limits: Limits): Promise<void>;
}

/** @throws Failure (usage) for anything but an absolute path or an http(s) URL */
export function updateSource(from: string, { proxy }: Pick<Cluster, 'proxy'>): UpdateSource {
  if (/^https?:\/\//.test(from)) return fromUrl(from.replace(/\/+$/, ''), proxy);
  if (from.startsWith('/')) return fromFolder(from);
  throw new Failure('usage', `--from ${from} is neither a folder nor a URL`, {
    expected: 'an absolute path, or a URL that begins with http:// or https://',
  });
}

const fromFolder = (folder: string): UpdateSource => ({
  signed: async () => ({
    text: await small(join(folder, UPDATE_FILES.manifest)),
    signature: await small(join(folder, UPDATE_FILES.signature)),
  }),
  async executable(target, size, { signal }) {
    const path = join(folder, UPDATE_FILES.executable);
    await requireRegular(path, size);
    await copyFile(path, target, 0o755, signal);
  },
  // The digest of its description is known from the signed manifest, so nothing is believed or copied before it is right.
  async payload(target, { sha256: expected, size }, { signal }) {
    const directory = join(folder, UPDATE_FILES.payload);
    const path = join(directory, payloadFile);
    const text = await small(path, maxDescriptionBytes);
    requireSame(path, expected, sha256(text));
    const payload = payloadIn(directory, text);
    const stated = payloadFiles(payload).reduce((sum, file) => sum + file.size, 0);
    if (stated > size) throw noUpdate(path, `files of ${stated} bytes`, `at most ${size} bytes`);
    await copyPayloadTo(payload, target, signal);
  },
});

/** A regular file of that size, no link and no pipe: a copy must end. */
async function requireRegular(path: string, size: number): Promise<void> {
  const found = await lstat(path).catch(orMissing(path));
  const expected = `a regular file of ${size} bytes`;
  if (found === undefined) throw noUpdate(path, 'no such file', expected);
  if (!found.isFile()) throw noUpdate(path, 'no regular file', expected);
  if (found.size !== size) throw noUpdate(path, `${found.size} bytes`, expected);
}

/** A small file of a folder that others may write: no link, no pipe, nothing large. */
async function small(path: string, maxBytes = MAX_MANIFEST_BYTES): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const opened = await open(path, flags).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ELOOP') throw noUpdate(path, 'a symbolic link');
    return orMissing(path)(error);
  });
  if (opened === undefined) throw noUpdate(path, 'no such file');
  await using file = opened;
  const stat = await file.stat();
  if (!stat.isFile()) throw noUpdate(path, 'no regular file');
  if (stat.size > maxBytes) throw noUpdate(path, `${stat.size} bytes`);
  return file.readFile('utf8');
}

/** A file that root may not read lies on a share, such as NFS; a name may be too long. */
const orMissing = (path: string) => (error: unknown) => {
  if (!isMissing(error) && isBadPath(error)) {
    throw noUpdate(path, systemErrorWords(error));
  }
  return ifMissing(error);
};

const noUpdate = (
  path: string,
  found: string,
  expected = `a file of at most ${MAX_MANIFEST_BYTES} bytes, as "sno create update" writes it`,
) =>
  new Failure('usage', `${path} cannot be used`, {
    ...{ code: 'update-refused', expected, found },
    fix: 'Nothing was changed. Create the update again, or copy all its files.',
  });

const fromUrl = (url: string, proxy: Cluster['proxy']): UpdateSource => {
  const options = (limits: Limits) => ({ ...limits, ...(proxy === undefined ? {} : { proxy }) });
  return {
    signed: (work, limits) =>
      withWorkFolder(work, async (folder) => {
        const fetched = async (name: string) => {
          const target = join(folder, name);
          await fetchFile(`${url}/${name}`, target, MAX_MANIFEST_BYTES, options(limits));
          return readFile(target, 'utf8');
        };
        return {
          text: await fetched(UPDATE_FILES.manifest),
          signature: await fetched(UPDATE_FILES.signature),
        };
      }),
    async executable(target, size, limits) {
      await fetchFile(`${url}/${UPDATE_FILES.executable}`, target, size, options(limits));
      await syncFile(target);
    },
    payload: (target, { sha256 }, limits) =>
      fetchPayload({ url: `${url}/${UPDATE_FILES.payload}`, sha256 }, target, options(limits)),
  };
};

/** @throws Failure (fatal) if the file is another one */
export async function requireDigest(
  path: string,
  expected: string,
  signal: AbortSignal,
): Promise<void> {
  requireSame(path, expected, await sha256OfAnyFile(path, signal));
}

function requireSame(path: string, expected: string, found: string): void {
  if (found === expected) return;
  throw new Failure('fatal', `${path} is not the file of the signed manifest`, {
    code: 'update-refused',
    expected: `SHA-256 ${expected}`,
    found,
    fix: 'Nothing was changed. Create the update again, or serve all its files.',
  });
}
