import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { api } from '../../steps/api.ts';
import { bootstrapComplete } from '../../steps/bootstrap-complete.ts';
import { clean } from '../../steps/clean.ts';
import { announce, complete } from '../../steps/complete.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { awaitNodeReady } from '../../steps/node-ready.ts';
import { record } from '../../steps/record.ts';
import { servingCertificate } from '../../steps/serving-certificate.ts';
import { verifyClean } from '../../steps/verify-clean.ts';
import { retire } from '../retire.ts';
import { handOver } from './hand-over.ts';
import { installComplete } from './install-complete.ts';
import { reloadKubelet } from './reload-kubelet.ts';
import { restoreOverrides } from './restore-overrides.ts';
import { takeOver } from './take-over.ts';
import { withdrawRights } from './withdraw-rights.ts';

/**
 * The installed host of OpenShift. It continues the control plane of the bootstrap until the operators
 * have taken it over; from then on it only waits for them.
 */
export const postRebootOpenShiftPlan = (s: Settings): Plan<HostContext> => ({
  ...identity('post-reboot'),
  achieved: 'PASS: the cluster is installed, and nothing of the bootstrap is left',
  announce,
  steps: [
    within(s, 'startWithPullsMs', api),
    within(s, 'bootstrapCompleteMs', bootstrapComplete),
    within(s, 'overridesMs', restoreOverrides),
    within(s, 'reloadKubeletMs', reloadKubelet),
    within(s, 'servingCertificateMs', servingCertificate),
    within(s, 'startWithPullsMs', awaitNodeReady),
    within(s, 'takeOverMs', takeOver),
    within(s, 'handOverMs', handOver),
    within(s, 'installCompleteMs', installComplete),
    within(s, 'overridesMs', withdrawRights),
    within(s, 'cleanMs', clean),
    within(s, 'verifyCleanMs', verifyClean),
    within(s, 'finishMs', record('post-reboot')),
    within(s, 'completeMs', complete),
    within(s, 'retireMs', retire),
  ],
});
