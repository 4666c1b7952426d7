import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import t from 'tap';
import { buildExecutables } from '../../../build/build.ts';
import { readExecutable } from '../../../cli/agents-executable.ts';

const RUN_DEADLINE_MS = 20_000;
const BUILD_DEADLINE_MS = 120_000;
const AGENTS = `
  import { readFileSync } from 'node:fs';
  import { basename } from 'node:path';
  import { once } from 'node:events';
  import { z } from 'zod';
  declare const __SNO_AGENTS_VERSION__: string;
  const unit = readFileSync(new URL('./a.service', import.meta.url), 'utf8');
  const facts = {
    name: basename(process.argv0),
    args: z.array(z.string()).parse(process.argv.slice(2)),
    execArgv: process.execArgv,
    version: __SNO_AGENTS_VERSION__,
    insecure: process.env.NODE_TLS_REJECT_UNAUTHORIZED,
    unit,
  };
  if (process.argv[2] === 'wait') setTimeout(() => undefined, 10_000);
  console.log(process.argv[2] === 'names' ? 'bootkube\\npost-reboot' : JSON.stringify(facts));
`;
const CLI = `
  declare const __SNO_AGENTS_SHA256__: string;
  console.log(__SNO_AGENTS_SHA256__);
`;

const run = (program: string, args: string[], env: Record<string, string> = {}) =>
  execa(program, args, { env, timeout: RUN_DEADLINE_MS });

const root = t.testdir({
  'package.json': '{"version":"9.8.7"}',
  agents: { 'main.ts': AGENTS, 'a.service': '[Unit]\n' },
  cli: { 'main.ts': CLI },
  'foreign.js': `require('node:fs').writeFileSync(__dirname + '/entered', '')`,
});
const bin = join(root, 'dist', 'bin');
const build = (folder = root) =>
  buildExecutables(
    { root: folder, dist: join(folder, 'dist') },
    AbortSignal.timeout(BUILD_DEADLINE_MS),
  );
const { agents, cli } = await build();
const same = { agents: { sha256: agents.sha256 }, cli: { sha256: cli.sha256 } };

t.test(
  'sno recognizes the agents by the mark of the build, and accepts nothing else',
  async (t) => {
    const signal = AbortSignal.timeout(RUN_DEADLINE_MS);
    const architecture = process.arch === 'x64' ? 'amd64' : 'arm64';
    const { version, ...found } = await readExecutable(join(bin, 'sno-agents'), signal);
    t.same(found, { sha256: agents.sha256, architecture });
    t.match(version, /^9\.8\.7/);
    await t.rejects(readExecutable(join(bin, 'sno'), signal), /is not a sno-agents executable/);
  },
);

t.test('executables stand alone and know each other', async (t) => {
  await symlink(join(bin, 'sno-agents'), join(root, 'elsewhere'));
  for (const [path, name] of [
    [join(bin, 'bootkube'), 'bootkube'],
    [join(bin, 'post-reboot'), 'post-reboot'],
    [join(root, 'elsewhere'), 'elsewhere'],
  ] as const) {
    const { stdout } = await run(path, ['run', '--from', 'etcd']);
    t.match(
      JSON.parse(stdout),
      { name, args: ['run', '--from', 'etcd'], unit: '[Unit]\n', version: /^9\.8\.7/ },
      `${name} acts by its name, with its arguments and files`,
    );
  }
  t.equal((await run(join(bin, 'sno'), [])).stdout, agents.sha256, 'sno knows the agents');
});

t.test('up-to-date executables are not rebuilt', async (t) => {
  t.match({ agents, cli }, { agents: { isNew: true }, cli: { isNew: true } });
  t.match(await build(), { agents: { isNew: false }, cli: { isNew: false } });
  await writeFile(join(root, 'agents', 'a.service'), '[Service]\n');
  t.match(await build(), { agents: { isNew: true } }, 'a file that is read counts');
  await writeFile(join(root, 'agents', 'a.service'), '[Unit]\n');
  t.match(await build(), same, 'the same bytes again');
});

t.test('the same sources produce the same bytes in another folder', async (t) => {
  const other = join(t.testdir(), 'a', 'longer', 'path');
  await mkdir(other, { recursive: true });
  for (const name of ['package.json', 'agents', 'cli']) {
    await cp(join(root, name), join(other, name), { recursive: true });
  }
  t.match(await build(other), same);
});

t.test('external input does not become code in an executable', async (t) => {
  const foreign = join(root, 'foreign.js');
  await writeFile(join(root, 'openssl.cnf'), 'nodejs_conf = a\n[a]\nengines = nowhere\n');
  const surroundings = [
    { NODE_OPTIONS: `--require ${foreign}` },
    { NODE_OPTIONS: '--inspect=127.0.0.1:0' },
    { NODE_PATH: root, NODE_COMPILE_CACHE: join(root, 'cache') },
    { OPENSSL_CONF: join(root, 'openssl.cnf') },
    { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  ];
  for (const env of surroundings) {
    const { stdout, stderr } = await run(join(bin, 'bootkube'), ['--inspect=0'], env);
    const facts = JSON.parse(stdout);
    t.strictSame(facts.args, ['--inspect=0'], `arguments, with ${Object.keys(env)}`);
    t.notOk(facts.execArgv.some((arg: string) => /inspect|require/.test(arg)));
    t.equal(facts.insecure, undefined);
    t.equal(stderr, '');
  }
  await t.rejects(readFile(join(root, 'entered')), { code: 'ENOENT' });
});

t.test('SIGUSR1 opens no debugger', async (t) => {
  const child = spawn(join(bin, 'bootkube'), ['wait'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.on('data', (data) => {
    complaints += data;
  });
  await once(child.stdout, 'data');
  child.kill('SIGUSR1');
  await Promise.race([once(child, 'exit'), sleep(1000)]);
  t.notMatch(complaints, /Debugger listening/);
  child.kill('SIGKILL');
});
