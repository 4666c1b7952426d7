import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../base/json.ts';
import { readTextIfReadable, writeFileAtomic } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';

/**
 * The images whose unpacked files are known to be on the disk, by their ids. A runtime syncs its
 * database, and not what it unpacks: after a power cut it may list an image whose files are empty. That it
 * has an image says nothing about files, so only what is written here after a sync counts as imported.
 */
const schema = z.object({ schemaVersion: z.literal(1), images: z.array(z.string()) });

const recordPath = ({ state }: Pick<HostPaths, 'state'>): string =>
  join(state, 'images-imported.json');

/** Empty if there is no record, or none that can be read. */
export async function readImported(paths: Pick<HostPaths, 'state'>): Promise<ReadonlySet<string>> {
  const text = await readTextIfReadable(recordPath(paths));
  const parsed = schema.safeParse(text === undefined ? undefined : parseJson(text));
  return new Set(parsed.success ? parsed.data.images : []);
}

/** Durable when it returns. Call it only once the files of these images are. */
export async function writeImported(
  paths: Pick<HostPaths, 'state'>,
  ids: Iterable<string>,
): Promise<void> {
  const record = { schemaVersion: 1, images: [...new Set(ids)].sort() };
  await writeFileAtomic(recordPath(paths), `${JSON.stringify(record)}\n`, 0o644);
}
