import t from 'tap';
import { runLab } from './lab.ts';

/** On a fresh machine the components are built first. */
const DEADLINE_MINUTES = 55;

t.test('a host says that its DHCP lease has moved, and follows it if it may', async (t) => {
  const { exitCode, output, result, left } = await runLab('address', DEADLINE_MINUTES);
  t.equal(exitCode, 0, output.split('\n').slice(-12).join('\n'));
  t.match(result, { scenario: 'address', ok: true });
  const steps = result.steps.filter(({ agent }) => agent === 'sno-identity');
  t.ok(
    steps.some(({ name }) => name === 'conclude'),
    'by a change of its identity',
  );
  t.same(left, [], 'the lab leaves nothing on the machine');
});
