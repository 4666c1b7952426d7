import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readTextIfPresent } from '../lib/host/files.ts';
import type { Settings } from '../lib/host/settings.ts';
import { file } from '../lib/render/ignition/entries.ts';
import type { Host } from './host/host.ts';

/** Of settings.json. */
export type AgentSettings = Readonly<Record<string, number | string>>;

const ignitionSchema = z.looseObject({
  storage: z.looseObject({ files: z.array(z.unknown()) }),
});

/** As an administrator would: with one more file in an Ignition config of `sno create`. */
export async function addSettings(path: string, settings: AgentSettings): Promise<void> {
  if (Object.keys(settings).length === 0) return;
  const config = ignitionSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  config.storage.files.push(file('/etc/sno-agents/settings.json', 0o644, JSON.stringify(settings)));
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
}

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
