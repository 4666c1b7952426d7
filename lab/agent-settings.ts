import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { file } from '../lib/ignition/entries.ts';

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
