import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../lib/host/settings.ts';
import type { Host } from '../host/host.ts';

/** With settings of the agents on the host that has none, as long as `during` runs. */
export async function withSettings<T>(
  { rootDir }: Host,
  settings: Partial<Settings>,
  during: () => Promise<T>,
): Promise<T> {
  const path = join(rootDir, 'etc/sno-agents/settings.json');
  await writeFile(path, JSON.stringify(settings));
  try {
    return await during();
  } finally {
    await rm(path);
  }
}
