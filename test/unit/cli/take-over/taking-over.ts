import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { decodeDataUrl } from '../../../../lib/base/data-url.ts';
import { type IgnitionConfig, parseConfig } from '../../../../lib/render/ignition/config.ts';
import { agentsExecutable } from '../agents-executable.ts';
import { type Run, sno } from '../run-sno.ts';
import type { BadCase } from './bad-ignitions.ts';

export const IGNITION = 'bootstrap-in-place-for-live-iso.ign';

export interface Taken extends Run {
  dir: string;
  /** What is in the folder afterwards. */
  left: string[];
}

/** Takes over a config that is in the installer's folder, among these files. */
export async function takeOver(
  t: Tap,
  config: IgnitionConfig | string,
  { args = [], beside = {}, own = {} }: Pick<BadCase, 'args' | 'beside' | 'own'> = {},
): Promise<Taken> {
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  const root = t.testdir({ agents: agentsExecutable(), from: { [IGNITION]: text }, to: {} });
  const dir = join(root, 'to');
  for (const [folder, files] of [
    ['from', beside],
    ['to', own],
  ] as const) {
    for (const [path, contents] of Object.entries(files)) {
      await mkdir(join(root, folder, path, '..'), { recursive: true });
      await writeFile(join(root, folder, path), contents);
    }
  }
  const options = ['--dir', dir, '--agents-executable', join(root, 'agents')];
  const from = ['--from-ignition', join(root, 'from')];
  const run = await sno(['create', 'single-node-ignition-config', ...options, ...from, ...args]);
  return { ...run, dir, left: (await readdir(dir)).toSorted() };
}

type Tap = Pick<Test, 'testdir'>;

export const read = async ({ dir }: Taken) =>
  parseConfig(await readFile(join(dir, IGNITION), 'utf8'), IGNITION);

export function contents(config: IgnitionConfig, path: string): string {
  const found = config.storage?.files?.find((each) => each.path === path)?.contents;
  return found === undefined ? '' : decodeDataUrl(found).toString('utf8');
}
