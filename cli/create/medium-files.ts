import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { requireRegularFile } from '../../lib/host/given-file.ts';
import { type Payload, payloadFile, readPayload } from '../../lib/payload/payload.ts';
import { damagedFiles, storedFiles } from '../../lib/payload/verify.ts';
import { type AddedFile, MAX_FILE_BYTES } from '../iso/add-files.ts';

/** Folder on the ISO, from its root, where hosts find its additions. */
export const FOLDER = '/sno-agents';
export const EXECUTABLE_PATH = `${FOLDER}/sno-agents`;
export const PAYLOAD_FOLDER = `${FOLDER}/payload`;

/** The layout that sno-executable.service and the agents expect below /run/media/iso. */
export function filesOf(executable: string, payload: Payload | undefined): AddedFile[] {
  return [
    { source: executable, path: EXECUTABLE_PATH, mode: 0o755 },
    ...(payload === undefined ? [] : filesOfPayload(payload)),
  ];
}

function filesOfPayload(payload: Payload): AddedFile[] {
  const paths = [payloadFile, ...storedFiles(payload).map(({ path }) => path)];
  return [...new Set(paths)].toSorted().map((path) => ({
    source: join(payload.directory, path),
    path: `${PAYLOAD_FOLDER}/${path}`,
    mode: 0o644,
  }));
}

export async function readWholePayload(folder: string, signal: AbortSignal): Promise<Payload> {
  const payload = await readPayload(folder);
  const faults = await damagedFiles(payload, storedFiles(payload), signal);
  if (faults.length === 0) return payload;
  throw new Failure(
    'usage',
    [`The payload in ${folder} is damaged; nothing was written`, ...faults].join('\n'),
    { fix: 'Create or copy it again.' },
  );
}

export async function totalSize(files: readonly AddedFile[]): Promise<number> {
  let total = 0;
  for (const { source } of files) {
    const size = await sizeOf(source);
    if (size > MAX_FILE_BYTES) {
      throw new Failure('usage', `${source} is too large for the ISO; nothing was written`, {
        expected: `at most ${MAX_FILE_BYTES} bytes`,
        found: `${size}`,
      });
    }
    total += size;
  }
  return total;
}

/** @throws Failure (usage) for anything but a regular file */
export const sizeOf = async (path: string): Promise<number> =>
  (await requireRegularFile(path, 'The file')).size;
