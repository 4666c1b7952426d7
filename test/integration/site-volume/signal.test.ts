/** A signal for a person as a process, which its unit ends before the next one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';

const LIGHT = 'sys/class/leds/input3::capslock/brightness';
const source = (path: string) => JSON.stringify(join(import.meta.dirname, '../../..', path));
const SHOW = `
const { hostPaths } = await import(${source('lib/host/paths.ts')});
const { runReconfigure } = await import(${source('agents/reconfigure/main.ts')});
process.exitCode = await runReconfigure(hostPaths(process.argv[1]), ['signal', 'fail']);
`;

t.test('it ends at once, and leaves the lights as they were', async (t) => {
  const root = t.testdir({});
  const light = join(root, LIGHT);
  mkdirSync(dirname(light), { recursive: true });
  writeFileSync(light, '1\n');
  // Nothing is shown by the machine of the test.
  const env = { PATH: root };
  const args = ['--input-type=module', '--eval', SHOW, root];
  const shown = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => shown.kill('SIGKILL'));
  const ended = once(shown, 'exit', { signal: AbortSignal.timeout(60_000) });
  while (readFileSync(light, 'utf8') === '1\n' && shown.exitCode === null) await sleep(20);
  shown.kill('SIGTERM');
  t.same(await ended, [0, null]);
  t.equal(readFileSync(light, 'utf8'), '1');
});
