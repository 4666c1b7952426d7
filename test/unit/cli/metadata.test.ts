import t from 'tap';
import { infrastructureId } from '../../../cli/create/metadata.ts';

for (const [name, base] of [
  ['sno', 'sno'],
  ['a.b_c', 'a-b-c'],
  ['a--b...c', 'a-b-c'],
  ['x'.repeat(54), 'x'.repeat(21)],
  [`${'x'.repeat(20)}-${'y'.repeat(20)}`, 'x'.repeat(20)],
] as const) {
  t.test(`the infrastructure of ${name}`, async (t) => {
    const id = infrastructureId(name);
    t.match(id, new RegExp(`^${base}-[bcdfghjklmnpqrstvwxz2456789]{5}$`));
    t.ok(id.length <= 27, 'what most clouds allow');
    t.not(infrastructureId(name), id, 'clusters of one name differ');
  });
}
