import t from 'tap';
import { faultCellRows } from '../../../lab/faults/cells/index.ts';
import { faults } from '../../../lab/faults/index.ts';
import { passedIn } from '../../../lab/faults/result.ts';
import { machineRows, onlyMachines } from '../../../lab/machine/shown/index.ts';
import { relocationRows, relocations } from '../../../lab/relocate/index.ts';
import { faultTable, hasPassed, parseTable, rowsOf, summary } from '../../faults/table.ts';

const backup = { plan: 'sno-backup', step: 'create', fault: 'etcd hanging', seconds: 4 };
const good = { ...backup, outcome: 'success' };
const bad = { ...backup, outcome: 'WRONG', why: 'it hangs' };

t.test('a scenario becomes its rows', async (t) => {
  const cells = { scenario: 'cells' };
  t.same(rowsOf('cells', 60, undefined, [good]), [{ ...cells, ...good }]);
  t.same(rowsOf('cells', 60, '1 of 1 faults', [bad]), [{ ...cells, ...bad }], 'said once');
  const whole = { scenario: 'cells', plan: 'installation', step: 'every', fault: 'cells' };
  t.same(rowsOf('cells', 60, undefined), [{ ...whole, outcome: 'success', seconds: 60 }]);
  t.same(
    rowsOf('cells', 60, 'no host', [good]),
    [
      { ...cells, ...good },
      { ...whole, outcome: 'WRONG', why: 'no host', seconds: 60 },
    ],
    'what ended it before its other rows',
  );
});

t.test('a scenario that runs again replaces its rows, and only them', async (t) => {
  const [old, fresh] = [rowsOf('b', 1, 'broken'), rowsOf('b', 2, undefined)];
  const other = rowsOf('a', 3, undefined);
  t.same(faultTable(['a', 'b'], [...old, ...other], fresh), [...other, ...fresh]);
});

t.test('a resumed run leaves out what has passed', async (t) => {
  const table = [...rowsOf('a', 1, undefined), ...rowsOf('b', 1, undefined, [good, bad])];
  t.ok(hasPassed('a', table));
  t.notOk(hasPassed('b', table), 'one of its faults has not');
  t.notOk(hasPassed('c', table), 'it has not run');
  const late = { ...backup, fault: 'disk full' };
  t.ok(hasPassed('cells', rowsOf('cells', 1, undefined, [good]), { cells: [backup] }));
  t.notOk(
    hasPassed('cells', rowsOf('cells', 1, undefined, [good]), { cells: [backup, late] }),
    'one of its faults is newer than the table',
  );
  t.notOk(hasPassed('a', table, { a: [backup] }), 'it was one fault as a whole');
  t.same(parseTable(JSON.stringify(table)), table);
  t.same(parseTable('{"half'), [], 'everything runs again');
});

t.test('a resumed scenario leaves out faults that have passed', async (t) => {
  const killed = { ...good, fault: 'killed' };
  const every = { ...killed, step: 'every' };
  const steps = { row: every, rows: [killed, { ...killed, step: 'prune' }] };
  t.same(passedIn([good, killed], { row: backup }), [good]);
  t.same(passedIn([bad], { row: backup }), [], 'it has not');
  t.same(passedIn([killed, { ...killed, step: 'prune' }], steps).length, 2, 'in each step');
  t.same(passedIn([killed], steps), [], 'not in each step');
  t.same(
    passedIn([killed, { ...killed, step: 'prune' }, { ...every, outcome: 'WRONG' }], steps),
    [],
  );
});

t.test('scenarios with several faults say what the table has of them', async (t) => {
  for (const [rows, scenarios] of [
    [faultCellRows, faults],
    [relocationRows, relocations],
    [machineRows, onlyMachines],
  ] as const) {
    for (const [name, demanded] of Object.entries(rows)) {
      t.ok(Object.hasOwn(scenarios, name), name);
      t.ok(demanded.length > 2, `${name}: ${demanded.length}`);
      const texts = demanded.map(({ plan, step, fault }) => `${plan}, ${fault} in ${step}`);
      t.same(texts, [...new Set(texts)], 'each once');
    }
  }
  const cut = relocationRows['relocate-interrupted']?.filter(({ fault }) => fault === 'power cut');
  t.same(
    cut?.map(({ step }) => step),
    ['stop', 'network', 'credentials', 'start', 'settle', 'confirm'],
  );
  t.same(Object.keys(machineRows), Object.keys(onlyMachines));
  t.same(
    machineRows['machine-power-cut']?.map(({ plan, step }) => `${plan} ${step}`),
    [
      'sno-backup create',
      'sno-backup-restore replace',
      'sno-rotate use-new',
      'sno-identity objects',
      'sno-update switch',
      'sno-trial before',
    ],
    'each later plan',
  );
});

t.test('the summary counts outcomes, and names what is wrong', async (t) => {
  const named = { ...good, outcome: 'restore-undone', seconds: 100 };
  t.equal(
    summary(rowsOf('a', 1, 'x', [good, good, named, bad]), 'faults.json'),
    `4 faults in 2 min; lab/out/faults.json
     2  success
     1  restore-undone
     1  WRONG
  WRONG: sno-backup, etcd hanging in create: it hangs
`,
  );
});
