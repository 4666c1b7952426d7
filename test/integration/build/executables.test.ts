import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { buildExecutables } from '../../../build/build.ts';

const RUN_DEADLINE_MS = 20_000;
const AGENTS = `
  import { readFileSync } from 'node:fs';
  import { basename } from 'node:path';
  declare const __SNO_AGENTS_VERSION__: string;
  const unit = readFileSync(new URL('./a.service', import.meta.url), 'utf8');
  const facts = {
    name: basename(process.argv0),
    args: process.argv.slice(2),
    execArgv: process.execArgv,
    version: __SNO_AGENTS_VERSION__,
    unit,
  };
  console.log(process.argv[2] === 'names' ? 'bootkube\\npost-reboot' : JSON.stringify(facts));
`;
const CLI = `
  declare const __SNO_AGENTS_SHA256__: string;
  console.log(__SNO_AGENTS_SHA256__);
`;

const run = (program: string, args: string[], env: Record<string, string> = {}) =>
  execa(program, args, { env, timeout: RUN_DEADLINE_MS });

t.test('executables stand alone and know each other', async (t) => {
  const root = t.testdir({
    'package.json': '{"version":"9.8.7"}',
    agents: { 'main.ts': AGENTS, 'a.service': '[Unit]\n' },
    cli: { 'main.ts': CLI },
  });
  const dist = join(root, 'dist');
  const bin = join(dist, 'bin');
  const build = () =>
    buildExecutables({ root, dist, isReproducible: false }, AbortSignal.timeout(120_000));
  const [agents, cli] = await build();

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

  const options = { NODE_OPTIONS: `--require ${join(root, 'foreign.js')}` };
  const { stdout } = await run(join(bin, 'bootkube'), ['--inspect=0'], options);
  t.match(
    JSON.parse(stdout),
    { args: ['--inspect=0'], execArgv: [] },
    'neither NODE_OPTIONS nor arguments reach Node',
  );

  t.equal((await run(join(bin, 'sno'), [])).stdout, agents?.sha256, 'sno knows the agents');
  t.match([agents, cli], [{ isNew: true }, { isNew: true }]);
  t.match(await build(), [{ isNew: false }, { isNew: false }], 'what is up to date is left alone');
});
