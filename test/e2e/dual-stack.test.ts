import t from 'tap';
import { runLab } from './lab.ts';

/** On a fresh machine the components are built first. */
const DEADLINE_MINUTES = 55;

t.test('a dual-stack host is installed the same way', async (t) => {
  const { exitCode, output, result, left } = await runLab('dual-stack', DEADLINE_MINUTES);
  t.equal(exitCode, 0, output.split('\n').slice(-12).join('\n'));
  t.match(result, { scenario: 'dual-stack', ok: true });
  t.same(left, [], 'the lab leaves nothing on the machine');
});
