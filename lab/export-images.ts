import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { copyFile } from '../lib/host/copy.ts';
import { exists, sha256OfFile } from '../lib/host/files.ts';
import { type Component, type EnsureOptions, ensureComponent } from './components/component.ts';
import { LIVE_ISO } from './components/live-iso.ts';
import { machineLiveIso } from './components/machine/live-iso.ts';
import { machineOsImage } from './components/machine/os-image.ts';
import { OS_IMAGE } from './components/os-image.ts';

const SUMS = 'SHA256SUMS';

const FILES: Readonly<Record<string, Component>> = {
  [LIVE_ISO]: machineLiveIso,
  [OS_IMAGE]: machineOsImage,
};

/**
 * `npm run lab -- --export-images DIR`: the live ISO and the disk image of the lab's machines, for a machine of one's own, with their
 * SHA-256. docs/first-machine.md says how they are used.
 *
 * @throws Failure (usage) if a file exists already
 */
export async function exportImages(folder: string, options: EnsureOptions): Promise<string[]> {
  const paths = [...Object.keys(FILES), SUMS].map((name) => join(folder, name));
  for (const path of paths) {
    if (!(await exists(path))) continue;
    throw new Failure('usage', `${path} exists already; nothing was written`, {
      fix: 'Move it away, or use another folder.',
    });
  }
  await mkdir(folder, { recursive: true });
  const lines: string[] = [];
  for (const [name, component] of Object.entries(FILES)) {
    const built = join(await ensureComponent(component, options), name);
    await copyFile(built, join(folder, name), 0o644, options.signal);
    lines.push(`${await sha256OfFile(built, options.signal)}  ${basename(name)}\n`);
  }
  await writeFile(join(folder, SUMS), lines.join(''));
  return paths;
}
