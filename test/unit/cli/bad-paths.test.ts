/** A path that cannot be: each option says so in a sentence, with exit code 2, and writes nothing. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { asBadPath } from '../../../cli/process/bad-path.ts';
import { GOOD } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const LONG = 'y'.repeat(300);

/** `@` is the path. */
const OPTIONS = [
  'create install-config --dir @',
  'create single-node-ignition-config --dir @',
  'create single-node-ignition-config --dir GOOD --payload @',
  'create single-node-ignition-config --dir GOOD --settings @',
  'create aio-ignition --dir GOOD --payload @',
  'create payload --dir @/x --binary kubelet=GOOD',
  'create update --dir @/x --payload GOOD --key GOOD',
  'create relocatable-manifests --dir @ --address 192.0.2.1 --node-name a',
  'create site-volumes --table GOOD/install-config.yaml --dir GOOD --output @/x --format folder',
  'analyze @',
  'verify payload @',
  'wait-for install-complete --dir @',
  'fleet status --kubeconfig @',
];

for (const [name, path, says] of [
  ['a circle of links', 'loop', /too many symbolic links/],
  ['a name that is too long', LONG, /name too long/],
  ['a path below a file', 'good/install-config.yaml/x', /not a directory|something else is there/],
] as const) {
  t.test(name, async (t) => {
    const dir = t.testdir({ good: { 'install-config.yaml': GOOD } });
    symlinkSync('loop', join(dir, 'loop'));
    const before = readdirSync(dir, { recursive: true });
    for (const option of OPTIONS) {
      const args = option
        .split(' ')
        .map((word) => word.replace('@', join(dir, path)).replace('GOOD', join(dir, 'good')));
      const { code, err } = await sno(args, { HOME: dir, SNO_AGENTS_EXECUTABLE: '/bin/true' });
      t.equal(code, 2, option);
      t.notMatch(err, /E[A-Z]{4,}: |\n\s+at /, `${option}: no error of Node`);
      if (/-dir GOOD|payload --dir|update --dir|volumes/.test(option)) continue;
      t.match(err, /cannot be (read|used|written)|does not exist/, `${option}: ${err}`);
      if (!err.includes('does not exist')) t.match(err, says, option);
    }
    t.same(readdirSync(dir, { recursive: true }), before);
  });
}

t.test('a folder for a new one, before anything is fetched for it', async (t) => {
  const dir = t.testdir({ file: '' });
  mkdirSync(join(dir, 'empty'));
  const fetched = ['create', 'payload', '--kubernetes', 'v1.37.2', '--dir'];
  for (const [folder, says] of [
    ['none/payload', /the folder \S+none does not exist/],
    ['file/payload', /the folder \S+file cannot be used: not a directory \(ENOTDIR\)/],
  ] as const) {
    t.match(await sno([...fetched, join(dir, folder)]), { code: 2, err: says });
  }
});

t.test('only what is wrong with a path is a fault of its name', async (t) => {
  const error = (fields: object) => Object.assign(new Error('x'), fields);
  const denied = { code: 'EACCES', syscall: 'open', path: '/x' };
  t.match(asBadPath(error(denied)), {
    kind: 'usage',
    message:
      '/x cannot be used; found permission denied (EACCES). Name another path, or make this one accessible.',
  });
  for (const other of [
    { ...denied, code: 'EIO' },
    { ...denied, code: 'ENOSPC' },
    { ...denied, path: undefined },
    { ...denied, code: 'ENOENT', syscall: 'spawn xorriso' },
    {},
  ]) {
    const given = error(other);
    t.equal(asBadPath(given), given);
  }
});
