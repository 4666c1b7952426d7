import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { topologyReportSchema } from '../../../lib/config/topology/report.ts';
import { GOOD } from '../../unit/cli/install-config-file.ts';

const MAIN = join(import.meta.dirname, '../../../cli/main.ts');

const explain = (args: readonly string[], cwd: string) =>
  execa(process.execPath, [MAIN, 'explain', 'topology', ...args], {
    cwd,
    reject: false,
    timeout: 60_000,
  });

t.test('sno explain topology, as a program', async (t) => {
  const dir = t.testdir({
    'install-config.yaml': GOOD,
    'workers.yaml': GOOD.replace('replicas: 0', 'replicas: 2'),
    'three.yaml': GOOD.replace('replicas: 1', 'replicas: 3'),
  });
  const table = await explain([], dir);
  t.match(table, { exitCode: 0, stderr: '' });
  t.equal(table.stdout.match(/^ {3}.* (none|cloud) /gm)?.length, 8);

  const config = await explain(['--config', 'install-config.yaml'], dir);
  t.match(config, { exitCode: 0, stderr: '' });
  t.match(config.stdout, /^> {2}no workers +none /m);

  const workers = await explain(['--config', 'workers.yaml', '--release', '4.18', '--json'], dir);
  t.match(workers, { exitCode: 0, stderr: '' });
  const report = topologyReportSchema.parse(JSON.parse(workers.stdout));
  t.same(report.inputs, { controlPlane: 1, compute: 2, laterWorkers: 0, platform: 'none' });
  t.equal(report.openshift?.release, '4.18');

  const three = await explain(['--config', 'three.yaml'], dir);
  t.match(three, { exitCode: 2, stdout: '' });
  t.match(three.stderr, /\nthree\.yaml:10:13 controlPlane\.replicas: expected 1, found 3/);

  const usage = await explain(['--kind', 'other'], dir);
  t.match(usage, { exitCode: 2, stdout: '' });
  t.match(usage.stderr, /--kind.*kubernetes, openshift/);
});

/** A bootstrap Ignition config that openshift-install 4.11 or later made, without workers, on platform none. */
const installers = process.env.SNO_INSTALLER_IGNITION;
const skip = installers === undefined ? 'SNO_INSTALLER_IGNITION names no Ignition config' : false;

t.test('what openshift-install decides is the row', { skip }, async (t) => {
  const { exitCode, stdout, stderr } = await explain(
    ['--from-ignition', installers ?? '', '--json'],
    t.testdir(),
  );
  t.equal(exitCode, 0, stderr);
  const { rows, openshift, differences } = topologyReportSchema.parse(JSON.parse(stdout));
  t.match(
    rows.find(({ applies }) => applies),
    { scenario: 'no workers', platform: 'none' },
  );
  t.same(openshift?.installer, []);
  t.same(
    differences?.filter(({ field }) => field !== undefined),
    [],
    'no value differs',
  );
});
