import t from 'tap';
import { runLab } from './lab.ts';

/** On a fresh machine the components are built first. */
const DEADLINE_MINUTES = 55;

t.test('aio.ign makes a cluster of one node on the host itself, without DNS', async (t) => {
  const { exitCode, output, result, left } = await runLab('aio', DEADLINE_MINUTES);
  t.equal(exitCode, 0, output.split('\n').slice(-12).join('\n'));
  t.match(result, { scenario: 'aio', ok: true });
  const steps = result.steps.filter(({ agent }) => agent === 'aiokube').map(({ name }) => name);
  for (const step of ['marker', 'etcd', 'manifests', 'node-role', 'steady-state', 'verify-clean']) {
    t.ok(steps.includes(step), `${step} is recorded`);
  }
  t.same(left, [], 'the lab leaves nothing on the machine');
});
