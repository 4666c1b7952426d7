/** What is done in one way: state on the disk, and waits for others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { importsOf, root, sourcesIn } from './source.ts';

const WRITTEN_JSON = /\bwriteFileAtomic\((?:[^()]|\([^()]*\))*JSON\.stringify/;

/** Read in the same way, and not moved yet. */
const OWN_STATE = [
  'agents/upkeep/update/prepare.ts',
  'lib/change/update/taken.ts',
  'lib/payload/imported.ts',
];

t.test('agents keep state by stateFile, with a decision what a damaged one means', async (t) => {
  const found = sourcesIn('{lib,agents}/**/*.ts').filter((file) =>
    WRITTEN_JSON.test(readFileSync(join(root, file), 'utf8')),
  );
  t.strictSame(found.toSorted(), OWN_STATE);
});

/** Who else sleeps. Whoever waits until something is so has a condition for `waitUntil`. */
const SLEEPS: Readonly<Record<string, string>> = {
  'agents/gather/sources/resources.ts': 'one pause before a second question',
  'agents/reconfigure/run-signal.ts': 'a rhythm for a person',
  'agents/steps/approve-until.ts': 'gives up a watch',
  'agents/steps/bootstrap-complete.ts': 'something must stay so',
  'agents/steps/causes.ts': 'looks beside a wait of others',
  'agents/upkeep/address/follow.ts': 'something must stay so',
  'agents/upkeep/approve/approve-workers.ts': 'the end of a session',
  'agents/upkeep/backup-push/push.ts': 'backs off before it sends again',
  'agents/upkeep/report/report.ts': 'backs off before it sends again, and lets news gather',
  'agents/upkeep/rotate/overlap.ts': 'a time that has to pass',
  'agents/upkeep/rotate/pods.ts': 'a time that has to pass',
  'cli/payload/fetch/again.ts': 'a pause for servers of others, as long as they get on',
  'cli/wait-for/wait-for.ts': 'gives up a question to name servers',
  'lib/base/end-process.ts': 'how long a reader has for the last output',
  'lib/base/wait/wait-until.ts': 'the loop',
  'lib/clients/kube/apply.ts': 'many objects, each with a time of its own',
  'lib/clients/kube/wait-for-steady-state.ts': 'follows watches; each change counts when it comes',
  'lib/clients/kube/watch-objects.ts': 'backs off before it watches again',
  'lib/clients/kube/while-transient.ts': 'backs off before it asks again',
  'lib/cluster/csr/pending-requests.ts': 'lets others run between two decisions',
  'lib/cluster/steady/view.ts': 'follows watches; each change counts when it comes',
  'lib/engine/steps/step-run.ts': 'backs off before the next attempt of a step',
  'lib/host/restart-host.ts': 'is to be stopped meanwhile',
  'lib/payload/containerd.ts': 'not moved yet',
  'lib/payload/crio.ts': 'not moved yet',
  'lib/render/openshift/images.ts': 'backs off before it pulls again',
  'lib/render/openshift/schedule.ts': 'reports from time to time',
};

t.test('one loop waits for others', async (t) => {
  const found = sourcesIn('{lib,agents,cli,report}/**/*.ts').filter((file) =>
    importsOf(file).some(({ target }) => target === 'node:timers/promises'),
  );
  t.strictSame(found.toSorted(), Object.keys(SLEEPS));
});
