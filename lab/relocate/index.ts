import type { FaultResult } from '../faults/result.ts';
import { secondsSince, type Trouble } from '../faults/troubles.ts';
import type { Scenario } from '../scenario.ts';
import { atSite } from './at-site.ts';
import { byUrl } from './by-url.ts';
import { FACTORY_SCENARIO, relocateFactory } from './factory.ts';
import { killedInEveryStep, neverSettles, powerCutIn } from './interrupted.ts';
import { arrivals, refusals, takenBack, undo } from './media.ts';
import { meetNetworkFault, networkFaults } from './network-faults.ts';
import type { ShippedNode } from './shipped-node.ts';

const AGENT = 'reconfigure';

/** A trouble that is one row; its outcome is what `meet` returns. */
const trouble = (step: string, fault: string, meet: () => Promise<string>): Trouble => {
  const row = { plan: AGENT, step, fault };
  return {
    name: `${fault}, in ${step}`,
    row,
    meet: async () => {
      const began = performance.now();
      const outcome = await meet();
      return [{ ...row, outcome, seconds: secondsSince(began) } satisfies FaultResult];
    },
  };
};

const unsealed = (run: ShippedNode): Trouble =>
  trouble('before', 'unsealed by the factory', async () => {
    await run.unseal();
    return 'success';
  });

/** A node that works is given networks that do not. */
const networks: Scenario = atSite((run: ShippedNode) => [
  unsealed(run),
  ...networkFaults.map((fault) =>
    trouble('network', fault.name, async () => (await meetNetworkFault(run, fault)).code),
  ),
  trouble('before', 'prepare --undo in the factory', () => undo(run)),
]);

const rowsOf = (
  run: ShippedNode,
  cells: Readonly<Record<string, (run: ShippedNode) => Promise<string>>>,
) => Object.entries(cells).map(([fault, meet]) => trouble('before', fault, () => meet(run)));

/** Several rows in one run. */
const several = (
  step: string,
  fault: string,
  meet: () => Promise<readonly FaultResult[]>,
): Trouble => ({ name: `${fault}, in ${step}`, row: { plan: AGENT, step, fault }, meet });

/** What a node refuses while it is sealed; then its volumes on different media, at two sites. */
const media: Scenario = atSite((run) => [
  ...rowsOf(run, {
    ...refusals,
    'volume by a URL, without anybody': byUrl,
    ...arrivals,
    'rollback on request': takenBack,
  }),
]);

/** Taken back without a fault of the network, killed, and without power. */
const interrupted: Scenario = atSite((run) => [
  unsealed(run),
  trouble('settle', 'site that never settles', () => neverSettles(run)),
  several('every', 'killed', () => killedInEveryStep(run)),
  several('stop, network, credentials', 'power cut', () =>
    powerCutIn(run, 'cut', ['stop', 'network', 'credentials'], true),
  ),
  several('start, settle, confirm', 'power cut', () =>
    powerCutIn(run, 'again', ['start', 'settle', 'confirm'], false),
  ),
]);

/** A node of the factory at its sites; `npm run test:relocate` runs all of them, in this order. */
export const relocations: Readonly<Record<string, Scenario>> = {
  [FACTORY_SCENARIO]: relocateFactory,
  'relocate-media': media,
  'relocate-networks': networks,
  'relocate-interrupted': interrupted,
};
