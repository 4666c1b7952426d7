import t from 'tap';
import { FLAGS } from './flag-table.ts';
import { flagsOf, pods } from './rendered-host.ts';

t.same(Object.keys(FLAGS).toSorted(), pods.map(({ component }) => component).toSorted());

for (const [component, rows] of Object.entries(FLAGS)) {
  t.test(`${component}: every flag is in the table, with a reason`, async (t) => {
    const rendered = flagsOf(component);
    for (const [flag, value, reason] of rows) {
      t.equal(rendered.get(flag), value, `--${flag}: ${reason}`);
    }
    const known = rows.map(([flag]) => flag);
    t.equal(new Set(known).size, known.length, 'each is listed once');
    t.same(
      [...rendered.keys()].filter((flag) => !known.includes(flag)),
      [],
      'no other flag',
    );
  });
}

t.test('no flag is given twice: the last one would win', async (t) => {
  for (const { component, container } of pods) {
    const names = container.command.slice(1).map((flag) => flag.split('=')[0]);
    t.equal(container.command[0], component);
    t.equal(new Set(names).size, names.length, component);
    t.ok(
      names.every((name) => name?.startsWith('--')),
      component,
    );
  }
});
