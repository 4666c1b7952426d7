import { demandsOf, isMet, LEFT_OUT } from '../lab/faults/cells/demanded.ts';
import { plansUnderTest } from '../lab/faults/cells/plans.ts';
import { type Cell, cells } from '../lab/faults/cells/table.ts';
import { TOUCHED } from '../lib/engine/steps/touched.ts';
import { row, table } from './markdown-table.ts';

const named = (outcome: string) => (outcome === 'interrupted' ? outcome : `\`${outcome}\``);

/** The plans of an installed host, what their steps touch, and the faults that they have met, as Markdown. */
export function faultsReference(): string {
  const plans = Object.values(plansUnderTest);
  const byAgent = [...new Map(plans.map((plan) => [plan.agent, plan])).values()];
  const steps = byAgent.flatMap(({ agent, steps }) =>
    steps.map(({ name, touches }) => row([`\`${agent}\``, name, touches.join(', ')])),
  );
  const faults = cells.map(({ plan, step, fault, mayFail }: Cell) =>
    row([`\`${plan.agent}\``, step, fault, ['success', ...mayFail.map(named)].join(', ')]),
  );
  const leftOut = LEFT_OUT.map(({ agent, fault, why }) => row([`\`${agent}\``, fault, why]));
  const demands = demandsOf(plans);
  const met = demands.filter((demand) => isMet(demand, cells)).length;
  return `# Faults

Generated from the code by \`docs/generate.ts\`; do not edit. Every step of a plan declares what it touches
(\`AGENT plan\` prints it). For everything that a step of an installed host touches, its plan must have met a fault in
the lab, or the reason why not is below; a test compares the two. \`npm run test:faults\` runs all of them on real hosts
and writes \`lab/out/faults.json\`.

${table(
  ['Touched', 'What that is'],
  Object.entries(TOUCHED).map(([name, what]) => row([name, what])),
)}

## Steps

Each agent is also killed with SIGKILL once in each of these steps, started again, and has to succeed
(\`node-killed-in-every-step\`; for the plans of an installation \`killed-in-every-step\` and \`aio-killed-in-every-step\`).

${table(['Plan', 'Step', 'Touches'], steps)}

## Faults in them

${cells.length} faults; ${met} of ${demands.length} that the declarations demand. The run with the fault ends in one of these ways: if not
with success, then with that [failure](failures.md) and its exit code, and the next run succeeds. \`interrupted\`: the
power has failed, and nothing starts the plan again before its next day.

${table(['Plan', 'Begins in', 'Fault', 'Ends with'], faults)}

## Left out

${table(['Plan', 'Fault', 'Why'], leftOut)}
`;
}
