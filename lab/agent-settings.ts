import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readTextIfPresent } from '../lib/host/files.ts';
import type { Settings } from '../lib/host/settings.ts';
import type { Host } from './host/host.ts';

/** Of settings.json. */
export type AgentSettings = Readonly<Record<string, number | string>>;

/** With further settings of the agents on the host that runs, which `during` may boot anew, as long as it runs. */
export async function withSettings<T>(
  host: () => Host,
  settings: Partial<Settings>,
  during: () => Promise<T>,
): Promise<T> {
  const path = () => join(host().rootDir, 'etc/sno-agents/settings.json');
  const present = await readTextIfPresent(path());
  const given = z.record(z.string(), z.unknown()).parse(JSON.parse(present ?? '{}'));
  await writeFile(path(), JSON.stringify({ ...given, ...settings }));
  try {
    return await during();
  } finally {
    if (present === undefined) await rm(path(), { force: true });
    else await writeFile(path(), present);
  }
}
