import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readTextIfPresent } from '../../lib/host/files.ts';
import type { Settings } from '../../lib/host/settings.ts';
import type { Host } from '../host/host.ts';

/** With further settings of the agents on the host, as long as `during` runs. */
export async function withSettings<T>(
  { rootDir }: Host,
  settings: Partial<Settings>,
  during: () => Promise<T>,
): Promise<T> {
  const path = join(rootDir, 'etc/sno-agents/settings.json');
  const present = await readTextIfPresent(path);
  const given = z.record(z.string(), z.unknown()).parse(JSON.parse(present ?? '{}'));
  await writeFile(path, JSON.stringify({ ...given, ...settings }));
  try {
    return await during();
  } finally {
    if (present === undefined) await rm(path);
    else await writeFile(path, present);
  }
}
