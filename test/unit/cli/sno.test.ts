import { join } from 'node:path';
import t from 'tap';
import { sno } from './run-sno.ts';

const USAGE: readonly { args: readonly string[]; code: number; out?: RegExp; err?: RegExp }[] = [
  { args: ['--help'], code: 0, out: /create[\s\S]*Exit codes/ },
  { args: ['create', '--help'], code: 0, out: /single-node-ignition-config/ },
  { args: ['create'], code: 2, err: /single-node-ignition-config/ },
  { args: ['creat'], code: 2, err: /Did you mean create/ },
  { args: ['create', 'single-node-ignition-config', '--dri', 'x'], code: 2, err: /--dri/ },
  { args: ['verify', 'ignition'], code: 2, err: /missing required argument/ },
  { args: ['verify', 'ignition', '/nowhere'], code: 2, err: /\/nowhere cannot be read/ },
];
for (const { args, code, out = /^/, err = /^/ } of USAGE) {
  t.test(`sno ${args.join(' ')}`, async (t) => {
    const run = await sno(args);
    t.match(run, { code, out, err });
    t.notMatch(run.err, /\n\s+at /, 'no stack trace');
  });
}

t.test('sno verify ignition names every fault', async (t) => {
  const dir = t.testdir({
    'a.ign': '{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"a"},{"path":"b"}]}}',
  });
  t.match(await sno(['verify', 'ignition', join(dir, 'a.ign')]), {
    code: 2,
    err: /2 errors:\n {2}storage\.files\[0\]\.path .*\n {2}storage\.files\[1\]\.path/,
  });
});
