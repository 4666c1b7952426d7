import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { readTextIfReadable, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';

const schema = z.object({ schemaVersion: z.literal(1), serial: z.int().positive() });

const path = ({ state }: Pick<HostPaths, 'state'>): string =>
  join(state, 'sno-update', 'taken.json');

/** The serial of the last update that stayed; undefined if none had one. */
export async function readTaken(paths: Pick<HostPaths, 'state'>): Promise<number | undefined> {
  const parsed = schema.safeParse(parseJson(await readTextIfReadable(path(paths))));
  return parsed.success ? parsed.data.serial : undefined;
}

/** Durable when it returns. Never goes back. */
export async function writeTaken(
  paths: Pick<HostPaths, 'state'>,
  serial: number | undefined,
): Promise<void> {
  if (serial === undefined || serial <= ((await readTaken(paths)) ?? 0)) return;
  await writeFileAtomic(path(paths), `${JSON.stringify({ schemaVersion: 1, serial })}\n`, 0o644);
}
