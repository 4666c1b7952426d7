import t from 'tap';
import { demandsOf, isMet, LEFT_OUT, WITHOUT_CELLS } from '../../../lab/faults/cells/demanded.ts';
import { plansUnderTest } from '../../../lab/faults/cells/plans.ts';
import { cells } from '../../../lab/faults/cells/table.ts';
import { agentsOf } from '../../../lib/engine/agents/table.ts';

const plans = Object.values(plansUnderTest);
const demands = demandsOf(plans);

const isLeftOut = (agent: string, faults: readonly string[]) =>
  LEFT_OUT.some((each) => each.agent === agent && faults.includes(each.fault));

t.test('every plan has met a fault of everything that its steps touch', async (t) => {
  t.ok(demands.length > 30, `${demands.length} demands`);
  for (const { agent, touched, oneOf } of demands) {
    const met = isMet({ agent, touched, oneOf }, cells);
    const name = `${agent} touches ${touched}: ${oneOf.join(' or ')}`;
    t.ok(met !== isLeftOut(agent, oneOf), `${name}; either in the table or left out with a reason`);
  }
});

t.test('what is left out is demanded', async (t) => {
  for (const { agent, fault } of LEFT_OUT) {
    const isDemanded = demands.some((each) => each.agent === agent && each.oneOf.includes(fault));
    t.ok(isDemanded, `${agent}, ${fault}`);
  }
});

t.test('a step that begins to touch something demands a cell', async (t) => {
  const step = { name: 'new', touches: ['network'] as const };
  const found = demandsOf([{ ...plansUnderTest.trial, steps: [step] }]);
  t.same(found, [{ agent: 'sno-trial', touched: 'network', oneOf: ['DNS gone'] }]);
  t.notOk(
    found.some((demand) => isMet(demand, cells)),
    'and has none',
  );
});

t.test('every agent that stays on the host has its plan in the table', async (t) => {
  const tested = new Set(plans.map(({ agent }) => agent));
  for (const name of agentsOf('node')) {
    const isExcused = WITHOUT_CELLS[name] !== undefined;
    t.ok(tested.has(name) !== isExcused, `${name}; or it has a reason`);
  }
});

t.test('a cell begins in a step of its plan', async (t) => {
  for (const { plan, step, fault } of cells) {
    const isStep = step === 'before' || plan.steps.some(({ name }) => name === step);
    t.ok(isStep, `${plan.agent}, ${fault} in ${step}`);
  }
  const keys = cells.map(({ plan, step, fault }) => `${plan.agent} ${step} ${fault}`);
  t.equal(new Set(keys).size, keys.length, 'each once');
});
