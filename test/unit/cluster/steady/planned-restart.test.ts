import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findingText } from '../../../../lib/cluster/steady/finding.ts';
import { scheduledShutdown } from '../../../../lib/cluster/steady/planned-restart.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';

t.test('a shutdown that is scheduled', async (t) => {
  const root = t.testdir();
  const paths = hostPaths(root);
  t.same(await scheduledShutdown(paths), []);
  mkdirSync(join(root, 'run/systemd/shutdown'), { recursive: true });
  const cases = [
    [
      'USEC=1893456000000000\nWARN_WALL=1\nMODE=reboot\n',
      /^The host has a reboot scheduled at 2030/,
    ],
    ['USEC=x\nMODE=poweroff\n', /^The host has a poweroff scheduled$/],
    ['', /^The host has a shutdown scheduled/],
  ] as const;
  for (const [text, expected] of cases) {
    writeFileSync(join(root, 'run/systemd/shutdown/scheduled'), text);
    t.match((await scheduledShutdown(paths)).map(findingText), [expected]);
  }
});
