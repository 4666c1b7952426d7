import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bundle } from '../../../build/bundle.ts';
import type { Synthetic } from '../../unit/gather/synthetic.ts';
import { GatherTester, listed, program } from '../../unit/gather/tester.ts';

const MIB = 2 ** 20;
/** At most 150 alone; more beside other tests. Anything that grows with the input needs a multiple. */
const LIMIT_MIB = 220;
const repeated = (count: number, one: (at: number) => Synthetic) =>
  Array.from({ length: count }, (_, at) => one(at));

// Hundreds of megabytes of text take time, possibly on a busy machine.
t.setTimeout(300_000);

t.test('its memory use does not grow with the collected data', async (t) => {
  const tester = new GatherTester(t);
  // As on a host: type stripping of the source files would need a lot of memory itself.
  tester.program = join(tester.root, 'gather.cjs');
  writeFileSync(tester.program, await bundle({ entry: program, constants: {} }));
  const sources: Synthetic[] = [
    ...repeated(8, (at) => ({
      path: `unit-${at}.log`,
      does: 'lines',
      bytes: 16 * MIB,
      limitBytes: 4 * MIB,
    })),
    ...repeated(8, (at) => ({
      path: `resources/${at}.json`,
      does: 'document',
      bytes: 2 * MIB,
      format: 'json',
    })),
    ...repeated(2, (at) => ({
      path: `container-${at}.log`,
      does: 'lines',
      bytes: 64 * MIB,
      phase: 'bulk',
    })),
    {
      path: 'journal.log.gz',
      does: 'lines',
      bytes: 160 * MIB,
      phase: 'bulk',
      gzipped: true,
      givesWay: 1,
    },
  ];
  const { code, stderr } = await tester.run(['--id', 'x'], sources);
  t.equal(code, 0, stderr);
  const [, peakKiB = 'unknown'] = /VmHWM:\s*(\d+) kB/.exec(stderr) ?? [];
  t.comment(`${Math.round(Number(peakKiB) / 1024)} MiB at most`);
  t.ok(Number(peakKiB) / 1024 < LIMIT_MIB, `${peakKiB} KiB`);
  t.equal(listed(join(tester.home, 'log-bundle-x.tar.gz')).length, sources.length + 5);
});
