import t from 'tap';
import { installConfigCases } from '../../openshift-install/cases.ts';
import { compareVerdicts } from '../../openshift-install/compare.ts';
import { differences } from '../../openshift-install/differences.ts';
import type { Verdict } from '../../openshift-install/programs.ts';

const accepts: Verdict = { isAccepted: true, faults: [] };
const refuses = (...faults: string[]): Verdict => ({ isAccepted: false, faults });
const DISK = { refusedBy: 'sno', fault: /^disk/, reason: 'only sno knows disks' } as const;
const NAME = { refusedBy: 'openshift-install', fault: /^name/, reason: 'names' } as const;

t.test('verdicts that agree need no reason, whatever the words', async (t) => {
  const found = compareVerdicts(
    [
      { name: 'a', sno: accepts, installer: accepts },
      { name: 'b', sno: refuses('x'), installer: refuses('y', 'z') },
    ],
    [],
  );
  t.same(found, { accepted: ['a'], refused: ['b'], explained: [], unexplained: [], stale: [] });
});

t.test('a difference is explained when each fault is', async (t) => {
  const found = compareVerdicts(
    [
      { name: 'a', sno: refuses('disk x', 'disk y'), installer: accepts },
      { name: 'b', sno: refuses('disk x', 'other'), installer: accepts },
      { name: 'c', sno: accepts, installer: refuses('name x') },
      { name: 'd', sno: accepts, installer: refuses('disk x') },
      { name: 'e', sno: refuses(), installer: accepts },
    ],
    [DISK, NAME],
  );
  t.same(found.explained, [
    { name: 'a', reasons: [DISK.reason] },
    { name: 'c', reasons: [NAME.reason] },
  ]);
  t.same(found.unexplained, [
    'b: only sno refuses: other',
    'd: only openshift-install refuses: disk x',
    'e: only sno refuses: (no message)',
  ]);
  t.same(found.stale, []);
});

t.test('a reason that explains nothing is stale, also where both refuse', async (t) => {
  const found = compareVerdicts(
    [
      { name: 'a', sno: refuses('disk x'), installer: refuses('name x') },
      { name: 'b', sno: refuses('name x'), installer: accepts },
    ],
    [DISK, NAME],
  );
  t.same(found.stale, [DISK, NAME]);
});

t.test('every install-config of the unit tests is compared once', async (t) => {
  const names = installConfigCases.map(({ name }) => name);
  t.equal(new Set(names).size, names.length);
  t.ok(names.length > 200, `${names.length}`);
  for (const { reason, fault } of differences) {
    t.notMatch(reason, /\.$/);
    t.notOk(fault.test(''), 'a pattern that matches anything explains nothing');
  }
});
