/** Many sites and the real `sno create site-volumes`, also one that stays at a row. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { execa } from 'execa';
import type { Test } from 'tap';
import { rowResultSchema } from '../../../cli/site/rows/results.ts';
import { sno } from '../../unit/cli/run-sno.ts';
import { ageKeys } from '../../unit/relocation/site-volume/volumes.ts';

const MAIN = join(import.meta.dirname, '../../../cli/main.ts');
export const node = await ageKeys();
export const PATH = process.env.PATH ?? '';
export const TEMPLATE = `api_version: 1
cluster_name: shop-\${number}
base_domain: example.com
hosts: ["\${machine}"]
`;
export const SITES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

/** A template, and a table of seven sites of which every second one is encrypted. */
export async function setUp(t: Pick<Test, 'testdir'>) {
  const root = t.testdir({
    site: { 'site-config.yaml': TEMPLATE, 'extra-manifests': { 'a.yaml': manifest('a') } },
    programs: {},
  });
  const table = join(root, 'sites.csv');
  writeFileSync(table, tableOf(SITES));
  const key = join(root, 'key');
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const output = join(root, 'volumes');
  const inputs = ['--dir', join(root, 'site'), '--table', table];
  const args = ['create', 'site-volumes', ...inputs, '--output', output, '--sign', key];
  return { root, table, key, output, args };
}

export const manifest = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\n`;
export const tableOf = (sites: readonly string[]) =>
  `site,number,machine,recipient\n${sites
    .map((site, at) => `${site},${at},SN-${at},${at % 2 === 0 ? '' : node.recipient}\n`)
    .join('')}`;

export const resultsIn = (output: string) =>
  readFileSync(join(output, 'results.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => rowResultSchema.strict().parse(JSON.parse(line)));

export const sitesIn = (output: string) =>
  resultsIn(output)
    .map(({ site }) => site)
    .toSorted();

/** SHA-256 of each file below, by its path. */
export const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    globSync('**', { cwd: folder })
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => [path, digestOf(join(folder, path))]),
  );
export const digestOf = (path: string) =>
  createHash('sha256').update(readFileSync(path)).digest('hex');
export const run = (args: readonly string[], path = PATH) => sno(args, { PATH: path });

/**
 * Waits until the real process has written `count` results and is at another row, and sends it a signal. Returns how it
 * ended; the program that makes the row is ended as well.
 */
export async function stoppedAfter(
  { root, output, args }: Awaited<ReturnType<typeof setUp>>,
  count: number,
  signal: NodeJS.Signals,
) {
  const stuck = join(root, 'stuck');
  // Never more than that are written, however fast the machine is.
  await instead(
    root,
    'xorriso',
    `[ "$(cat '${output}/results.jsonl' 2>/dev/null | wc -l)" -lt ${count} ] && exec "$real" "$@"
echo $$ >'${stuck}.new'
mv '${stuck}.new' '${stuck}'
exec sleep 1000`,
  );
  const child = spawn(process.execPath, [MAIN, ...args, '--parallel', '1'], {
    env: { ...process.env, PATH: `${join(root, 'programs')}:${PATH}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const err = text(child.stderr);
  while (!existsSync(stuck) && child.exitCode === null) await setTimeout(20);
  child.kill(signal);
  await ended;
  try {
    // In a group of its own, which nobody is left to end.
    process.kill(Number(readFileSync(stuck, 'utf8')), 'SIGKILL');
  } catch {
    // It has been ended.
  }
  return { code: child.exitCode, err: await err };
}

/** Puts a script before a program, which is `$real`. */
export async function instead(root: string, program: string, script: string): Promise<void> {
  const real = (await execa('which', [program])).stdout;
  const path = join(root, 'programs', program);
  writeFileSync(path, `#!/bin/sh\nreal='${real}'\n${script}\n`);
  chmodSync(path, 0o755);
}
