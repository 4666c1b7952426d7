/** Which faults `--resume` leaves out. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { FaultResult } from '../../../lab/faults/result.ts';
import { meetAll } from '../../../lab/faults/troubles.ts';
import { needed, shown } from '../../../lab/machine/shown/row.ts';

const { signal } = new AbortController();

const passed = (fault: string, outcome = 'success'): FaultResult => ({
  plan: 'installation',
  step: 'after',
  fault,
  outcome,
  seconds: 2,
});

/** What a resumed run meets, with these tables of all containers and of all machines. */
async function met(t: Test, are: 'containers' | 'machines'): Promise<string[]> {
  const folder = t.testdir({
    scenario: {},
    'faults.json': JSON.stringify([passed('of containers')]),
    'machine.json': JSON.stringify([
      passed('of machines'),
      passed('needed'),
      passed('wrong', 'WRONG'),
    ]),
  });
  const found: string[] = [];
  const row = (fault: string) => shown(fault, async () => found.push(fault));
  const troubles = [
    row('of containers'),
    row('of machines'),
    needed(row('needed')),
    row('wrong'),
    row('new'),
  ];
  const out = join(folder, 'scenario');
  for (const step of meetAll(troubles, { signal, out, hosts: { are }, resume: true })) {
    await step.run(() => undefined);
  }
  return found;
}

t.test('of containers: what the table of containers has', async (t) => {
  t.same(await met(t, 'containers'), ['of machines', 'needed', 'wrong', 'new']);
});

t.test('of machines: what their own table has, but not what later ones need', async (t) => {
  t.same(await met(t, 'machines'), ['of containers', 'needed', 'wrong', 'new']);
});
