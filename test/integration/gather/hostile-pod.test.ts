import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Synthetic } from '../../unit/gather/synthetic.ts';
import { GatherTester, listed, unpacked } from '../../unit/gather/tester.ts';

const PERIOD = 'aB3dE5gH1';
const SECRETS = 500;
const VOLUME = 'var/lib/kubelet/pods/1b6c/volumes/kubernetes.io~secret/own';

t.setTimeout(300_000);

t.test('a Secret and a log of one pod cost the bundle nothing but that log', async (t) => {
  const tester = new GatherTester(t);
  const long = PERIOD.repeat(80);
  const values = Array.from({ length: SECRETS }, (_, at) => long.slice(at % 9, (at % 9) + 15 + at));
  const folder = join(tester.root, VOLUME);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'a.conf'), values.map((value) => `password=${value}\n`).join(''));
  const periodic = { does: 'repeats', text: PERIOD } as const;
  const other = { does: 'lines', bytes: 3_000_000, phase: 'bulk' } as const;
  const sources: Synthetic[] = [
    // As long as aborted the whole process once, and as long as a line can be.
    { path: 'tail.log', ...periodic, bytes: 45_000 },
    { path: 'hostile.log', ...periodic, bytes: 900_000, phase: 'bulk' },
    { path: 'one.log', ...other },
    { path: 'two.log', ...other },
  ];
  const { code, signal, stderr } = await tester.run(['--id', 'x'], sources);
  t.equal(signal, null, stderr);
  t.equal(code, 0, stderr);
  const archive = join(tester.home, 'log-bundle-x.tar.gz');
  const paths = listed(archive);
  for (const name of ['one.log', 'two.log', 'gather.json', 'report.json']) {
    t.ok(paths.includes(`log-bundle-x/${name}`), name);
  }
  t.equal(unpacked(archive, 'log-bundle-x/one.log').length, other.bytes);
  for (const name of ['tail.log', 'hostile.log']) {
    t.notOk(unpacked(archive, `log-bundle-x/${name}`).includes(PERIOD.repeat(2)), name);
  }
});
