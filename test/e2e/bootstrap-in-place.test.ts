import t from 'tap';
import { bootkubePlan } from '../../agents/bootkube/plan.ts';
import { postRebootPlan } from '../../agents/post-reboot/plan.ts';
import { ETCD_VERSION, KUBERNETES_VERSION } from '../../lab/components/versions.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { runLab } from './lab.ts';

/** On a fresh machine the components are built first. */
const DEADLINE_MINUTES = 55;

t.test('a host goes from a live image to a finished cluster', async (t) => {
  const { exitCode, output, result, left } = await runLab('bootstrap-in-place', DEADLINE_MINUTES);
  t.equal(exitCode, 0, output.split('\n').slice(-12).join('\n'));
  t.match(result, { scenario: 'bootstrap-in-place', ok: true });

  const stepsOf = (agent: string) =>
    result.steps.filter((step) => step.agent === agent).map(({ name }) => name);
  const names = (steps: readonly { name: string }[]) => steps.map(({ name }) => name);
  t.same(stepsOf('bootkube'), names(bootkubePlan(defaultSettings).steps));
  // The journal ends with the agent; the record has the steps up to the one that writes it.
  const postReboot = names(postRebootPlan(defaultSettings).steps);
  t.same(stepsOf('post-reboot'), postReboot.slice(0, postReboot.indexOf('record') + 1));
  t.same(result.versions, { kubernetes: `v${KUBERNETES_VERSION}`, etcd: `v${ETCD_VERSION}` });
  t.same(left, [], 'the lab leaves nothing on the machine');
});
