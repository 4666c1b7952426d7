import { reconfigurePlan } from '../../agents/reconfigure/plan.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { type DemandedRows, EVERY_STEP, type FaultResult } from '../faults/result.ts';
import { demandedOf, secondsSince, type Trouble, type TroublesOf } from '../faults/troubles.ts';
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

type NodeTroubles = TroublesOf<ShippedNode>;

const unsealed = (node: () => ShippedNode): Trouble =>
  trouble('before', 'unsealed by the factory', async () => {
    await node().unseal();
    return 'success';
  });

/** A node that works is given networks that do not. */
const networks: NodeTroubles = (node) => [
  unsealed(node),
  ...networkFaults.map((fault) =>
    trouble('network', fault.name, async () => (await meetNetworkFault(node(), fault)).code),
  ),
  trouble('before', 'prepare --undo in the factory', () => undo(node())),
];

const each = (
  node: () => ShippedNode,
  cells: Readonly<Record<string, (run: ShippedNode) => Promise<string>>>,
) => Object.entries(cells).map(([fault, meet]) => trouble('before', fault, () => meet(node())));

/** Several rows in one run. */
const several = (
  steps: readonly string[],
  name: string,
  fault: string,
  meet: () => Promise<readonly FaultResult[]>,
): Trouble => ({
  name: `${fault}, in ${name}`,
  row: { plan: AGENT, step: name, fault },
  rows: steps.map((step) => ({ plan: AGENT, step, fault })),
  meet,
});

const STEPS = reconfigurePlan(defaultSettings).steps.map(({ name }) => name);

const powerCut = (
  node: () => ShippedNode,
  site: string,
  steps: readonly [string, ...string[]],
  staysIn: boolean,
): Trouble =>
  several(steps, steps.join(', '), 'power cut', () => powerCutIn(node(), site, steps, staysIn));

/** What a node refuses while it is sealed; then its volumes on different media, at two sites. */
const media: NodeTroubles = (node) =>
  each(node, {
    ...refusals,
    'volume by a URL, without anybody': byUrl,
    ...arrivals,
    'rollback on request': takenBack,
  });

/** Taken back without a fault of the network, killed, and without power. */
const interrupted: NodeTroubles = (node) => [
  unsealed(node),
  trouble('settle', 'site that never settles', () => neverSettles(node())),
  several(STEPS, EVERY_STEP, 'killed', () => killedInEveryStep(node())),
  powerCut(node, 'cut', ['stop', 'network', 'credentials'], true),
  powerCut(node, 'again', ['start', 'settle', 'confirm'], false),
];

const sites: readonly (readonly [scenario: string, troubles: NodeTroubles])[] = [
  ['relocate-media', media],
  ['relocate-networks', networks],
  ['relocate-interrupted', interrupted],
];

/** A node of the factory at its sites; `npm run test:relocate` runs all of them, in this order. */
export const relocations: Readonly<Record<string, Scenario>> = {
  [FACTORY_SCENARIO]: relocateFactory,
  ...Object.fromEntries(
    sites.map(([name, troubles]) => [name, atSite((run) => troubles(() => run))]),
  ),
};

/** What the table has of each once it has passed. */
export const relocationRows: DemandedRows = Object.fromEntries(
  sites.map(([name, troubles]) => [name, demandedOf(troubles)]),
);
