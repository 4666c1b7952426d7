import type { Installation } from '../installation.ts';
import type { LabContext, Scenario, ScenarioStep } from '../scenario.ts';
import { allInOne } from '../scenarios/aio.ts';
import { bootstrapIn } from '../scenarios/bootstrap-in-place.ts';
import { rotatesAdministrators, rotatesAll } from './rotation.ts';
import {
  approvesServing,
  expireEverything,
  recovers,
  renewsOldLeaves,
  restoresUnproven,
} from './steps.ts';
import { survivesWrongClock } from './wrong-clock.ts';

/** What happens to the certificates of a host that runs for years. */
const years = (run: Installation, { signal }: LabContext): ScenarioStep[] => [
  {
    title: 'Renew every old certificate of the control plane',
    run: (report) => renewsOldLeaves(run.cluster, report, signal),
  },
  {
    title: 'Restore a certificate that cannot be proven',
    run: (report) => restoresUnproven(run.cluster, report, signal),
  },
  {
    title: "Approve the kubelet's next serving certificate",
    run: (report) => approvesServing(run.cluster, report, signal),
  },
  {
    title: 'Set the clock of the agents ahead and back',
    run: (report) => survivesWrongClock(run.cluster, report, signal),
  },
  {
    title: 'Replace the authorities and keys',
    run: (report) => rotatesAll(run.cluster, report, signal),
  },
  {
    title: 'Boot with every certificate expired',
    run: async (report) => {
      await expireEverything(run.cluster, report, signal);
      await run.booted.stop();
      await run.bootInstalled('expired');
      await recovers(run.cluster, report, signal);
    },
  },
  {
    title: 'Replace the authority of administrators',
    run: (report) => rotatesAdministrators(run.cluster, report, signal),
  },
];

/** Run by `npm run test:certificates`. */
export const certificates: Readonly<Record<string, Scenario>> = {
  'certificates-aio': allInOne(years),
  'certificates-installed': bootstrapIn(['IPv4'], years),
};
