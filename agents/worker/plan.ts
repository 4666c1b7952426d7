import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { type StepBody, until, within } from '../../lib/engine/steps/within.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { clean } from '../steps/clean.ts';
import type { PlainHost } from '../steps/host-context.ts';
import { workerKubelet } from '../steps/kubelet.ts';
import { marker } from '../steps/marker.ts';
import { payload } from '../steps/payload.ts';
import { preflight, workerChecks } from '../steps/preflight/preflight.ts';
import { record } from '../steps/record.ts';
import { retireAgent } from '../steps/retire.ts';
import { verifyClean } from '../steps/verify-clean.ts';
import { finishWorker } from './finish.ts';
import { placeKubeletFiles } from './kubelet-files.ts';
import { workerKubeletIdentity } from './kubelet-identity.ts';
import { workerLeftovers } from './leftovers.ts';
import { awaitOwnNodeReady } from './node-ready.ts';
import { podNetwork } from './pod-network.ts';
import { workerServingCertificate } from './serving-certificate.ts';

/** The clean-up deletes the token with which they were made. */
const untilLeftovers = (body: StepBody<PlainHost>) => until('leftovers', body);

/** A worker, from the first boot of its disk until it has joined the cluster. */
export const workerPlan = (s: Settings): Plan<PlainHost> => ({
  ...identity('worker'),
  achieved: 'PASS: the host has joined the cluster, and nothing of the installation is left',
  steps: [
    within(s, 'finishMs', marker),
    within(s, 'preflightMs', preflight(workerChecks)),
    within(s, 'payloadMs', payload),
    within(s, 'workerApprovalMs', untilLeftovers(workerKubeletIdentity)),
    within(s, 'identityMs', untilLeftovers(placeKubeletFiles)),
    within(s, 'nodeKubeletMs', untilLeftovers(workerKubelet)),
    within(s, 'podNetworkMs', podNetwork),
    within(s, 'servingCertificateMs', workerServingCertificate),
    within(s, 'nodeReadyMs', awaitOwnNodeReady),
    within(s, 'finishMs', workerLeftovers),
    within(s, 'cleanMs', clean),
    within(s, 'verifyCleanMs', verifyClean),
    within(s, 'finishMs', record('worker')),
    within(s, 'finishMs', finishWorker),
    within(s, 'retireMs', retireAgent('worker')),
  ],
});
