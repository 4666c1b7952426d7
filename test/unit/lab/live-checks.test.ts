import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { requireLiveSteps } from '../../../lab/openshift/live-checks.ts';

const notes: Readonly<Record<string, string | undefined>> = {
  payload: 'OpenShift 4.21.0, 12 images',
  render: '216 files, 127 manifests',
  etcd: 'version 3.6.8, revision 1',
  manifests: '125 created, 2 existed',
  snapshot: 'revision 612, 4000 KiB',
  'master-ignition': 'fetched from https://api-int.lab.example.test:22623/config/master',
  'combined-ignition': '5000 KiB',
  finish: undefined,
};

function journal(
  t: Test,
  changes: Readonly<Record<string, string | undefined>> = {},
  without = '',
) {
  const path = join(t.testdir(), 'bootkube.jsonl');
  const lines = Object.entries({ ...notes, ...changes })
    .filter(([step]) => step !== without)
    .map(([step, note]) => {
      const entry = { at: '', boot: 'b', up: 1, step, input: '', event: 'done', attempt: 1, note };
      return `${JSON.stringify(entry)}\n`;
    });
  writeFileSync(path, lines.join(''));
  return path;
}

t.test('every step has done what the scenario is for', async (t) => {
  const found = await requireLiveSteps(journal(t));
  t.equal(found.get('manifests'), notes.manifests);
});

const wrong: [title: string, changes: Record<string, string>, without: string, says: RegExp][] = [
  ['a step that is not done', {}, 'finish', /finish did something else.*not done/],
  ['another release', { payload: 'OpenShift 4.19.0, 12 images' }, '', /payload/],
  ['a master config that was rendered here', { 'master-ignition': 'rendered' }, '', /rendered/],
  ['a manifest that was not applied', { manifests: '124 created, 2 existed' }, '', /124 created/],
];
for (const [title, changes, without, says] of wrong) {
  t.test(title, (t) =>
    t.rejects(requireLiveSteps(journal(t, changes, without)), { message: says }),
  );
}
