import { bootAgain } from '../faults/cells/faults.ts';
import { meetAll, type Trouble } from '../faults/troubles.ts';
import { scenarioOf } from '../installation.ts';
import type { LabContext, Scenario } from '../scenario.ts';
import { ShippedNode } from './shipped-node.ts';

/** The sealed node of the factory, switched on at the site; then one trouble after another. */
export const atSite =
  (troublesOf: (run: ShippedNode, context: LabContext) => readonly Trouble[]): Scenario =>
  (context) => {
    const run = new ShippedNode(context);
    return scenarioOf(run, [
      { title: 'Take a node from the factory', run: () => run.unpack() },
      { title: 'Switch it on at the site', run: async () => void (await bootAgain(run)) },
      ...meetAll(troublesOf(run, context), context),
    ]);
  };
