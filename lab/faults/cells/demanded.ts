import type { AgentName } from '../../../lib/engine/agents/table.ts';
import type { Touched } from '../../../lib/engine/steps/touched.ts';
import type { PlanUnderTest } from './plan.ts';
import { type Cell, clockFault, TORN } from './table.ts';

/** A plan must have met one of these faults, because one of its steps touches this. */
export interface Demand {
  readonly agent: AgentName;
  readonly touched: Touched;
  readonly oneOf: readonly string[];
}

/**
 * The faults of what a step can touch: one of each group. A runtime or a systemd that is gone takes the whole host with it,
 * and is no fault that a plan could survive; what a TPM does is in the scenario `aio-sealed`.
 */
const FAULTS_OF: Readonly<Record<Touched, readonly (readonly string[])[]>> = {
  disk: [['disk full'], ['power cut'], [TORN]],
  etcd: [['etcd hanging']],
  api: [['API hanging']],
  network: [['DNS gone']],
  clock: [
    [clockFault(1), clockFault(-1)],
    [clockFault(365), clockFault(-365)],
  ],
  runtime: [],
  systemd: [],
  firmware: [],
};

/** What the declarations of the steps demand of the table, each once. */
export function demandsOf(plans: readonly PlanUnderTest[]): Demand[] {
  const demands = new Map<string, Demand>();
  for (const { agent, steps } of plans) {
    for (const touched of steps.flatMap(({ touches }) => touches)) {
      for (const oneOf of FAULTS_OF[touched]) {
        demands.set(`${agent} ${oneOf[0]}`, { agent, touched, oneOf });
      }
    }
  }
  return [...demands.values()];
}

export const isMet = ({ agent, oneOf }: Demand, cells: readonly Cell[]): boolean =>
  cells.some((cell) => cell.plan.agent === agent && oneOf.includes(cell.fault));

/** A demand that no cell meets, and the reason. */
interface LeftOut {
  readonly agent: AgentName;
  readonly fault: string;
  readonly why: string;
}

const IMAGES_GONE =
  'measured with containerd 1.6, which pins no images (operating-systems.md, container runtime), and not yet with 2.4: on a full disk the kubelet deletes that of the sandbox, this plan starts static pods anew, and the host comes back at its next boot only, when the payload is imported';

export const LEFT_OUT: readonly LeftOut[] = [
  { agent: 'sno-rotate', fault: 'disk full', why: IMAGES_GONE },
  { agent: 'sno-identity', fault: 'disk full', why: IMAGES_GONE },
  {
    agent: 'sno-trial',
    fault: 'disk full',
    why: 'a host with a full disk refuses the update, so that nothing is on trial; what fills the disk after that has no cell yet',
  },
  {
    agent: 'sno-renew',
    fault: 'power cut',
    why: 'it renames complete files into place, one at a time; a torn journal and a certificate that is half written are its cells',
  },
  {
    agent: 'sno-approve',
    fault: 'disk full',
    why: 'it writes nothing but its journal and its figures, which sno-renew and sno-backup write as well',
  },
  {
    agent: 'sno-approve',
    fault: 'power cut',
    why: 'it keeps nothing: each start reads the list anew; killed in its step instead',
  },
  {
    agent: 'sno-payload',
    fault: 'power cut',
    why: 'cut in the scenario `aio-power-cut`, in the step that imports the payload, between the import and its sync',
  },
  {
    agent: 'sno-certificates',
    fault: 'power cut',
    why: 'it takes a tenth of a second, and renames complete files into place; a certificate that is half written is a cell of sno-renew',
  },
];

/** Agents of an installed host that have no cells, and the reason. */
export const WITHOUT_CELLS: Partial<Record<AgentName, string>> = {
  reconfigure:
    'it needs a site, which the hosts of the table have not: its faults are those of `npm run test:relocate`',
  'sno-backup-push':
    'it needs a store, which the hosts of the table have not: its faults are those of `test/integration/backup-push`',
  'sno-address':
    'its one step looks at the host and starts sno-identity, whose cells these are; it runs in the scenario `address`',
};
