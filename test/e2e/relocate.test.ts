import t from 'tap';
import { reconfigurePlan } from '../../agents/reconfigure/plan.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { runLab } from './lab.ts';

/** On a fresh machine the components are built first. */
const DEADLINE_MINUTES = 55;

t.test('a node of a factory is set up at a site by a site volume', async (t) => {
  const { exitCode, output, result, left } = await runLab('relocate-briefly', DEADLINE_MINUTES);
  t.equal(exitCode, 0, output.split('\n').slice(-12).join('\n'));
  t.match(result, { scenario: 'relocate-briefly', ok: true });
  const steps = result.steps.filter(({ agent }) => agent === 'reconfigure');
  const all = reconfigurePlan(defaultSettings).steps;
  t.same(
    steps.map(({ name }) => name),
    all.map(({ name }) => name),
  );
  t.same(left, [], 'the lab leaves nothing on the machine');
});
