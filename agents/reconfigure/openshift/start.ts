import { describeError } from '../../../lib/base/errors/failure.ts';
import type { ChangeStep } from '../../../lib/change/or-back.ts';
import { isApiReady } from '../../../lib/clients/kube/api-ready.ts';
import { describeDecision } from '../../../lib/cluster/csr/decision.ts';
import { approveOwnClientRequests } from '../../../lib/cluster/csr/own-client-approver.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done, notYet } from '../../../lib/engine/steps/step.ts';
import { exists, readTextIfPresent, removeFile } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { sealedPath } from '../../../lib/host/paths.ts';
import { reloadUnits, startUnit } from '../../../lib/host/systemd.ts';
import { validityOf } from '../../../lib/pki/certificate.ts';
import { kubeletPaths } from '../../../lib/render/kubernetes/kubelet.ts';
import { approvedUntil, approveUntil } from '../../steps/approve-until.ts';
import type { ReconfigureContext } from '../context.ts';
import { KUBELET } from './units.ts';

type Context = Pick<
  ReconfigureContext,
  'paths' | 'settings' | 'cluster' | 'request' | 'hostname' | 'withAdministrator'
>;

/**
 * Opens the seal and starts the kubelet, which brings CRI-O and what both require. The identity of the node stays. What
 * expired on the way is replaced: static pods renew their own certificates, and the kubelet requests its own, which this step
 * approves, since nothing else in a cluster without Machines does.
 */
export const startOpenShift: ChangeStep<Context> = {
  name: 'start',
  leaves: 'a running control plane, and a kubelet with valid certificates',
  touches: ['disk', 'systemd', 'runtime', 'api', 'clock'],
  neededUntil: 'confirm',
  async holds(context, progress) {
    const { paths } = context;
    if (await exists(sealedPath(paths))) return false;
    for (const pair of [kubeletPaths.clientPair, kubeletPaths.servingPair]) {
      if (!isValid(await readTextIfPresent(paths.at(pair)))) return false;
    }
    return (await whyNotReady(context, progress)) === undefined;
  },
  async run(context, progress) {
    const { paths } = context;
    await removeFile(sealedPath(paths));
    // nodeip-configuration has written a drop-in; a kubelet that runs is left alone.
    await reloadUnits(progress.signal);
    await startUnit(KUBELET, progress.signal);
    const why = await whyNotReady(context, progress);
    if (why !== undefined) return notYet(`the API server is not ready: ${why}`);
    await requireCertificates(context, progress);
    return done();
  },
};

/** Asked with the administrator's kubeconfig as it is now: the control plane replaces it, if it has expired. */
async function whyNotReady(context: Context, progress: Progress): Promise<string | undefined> {
  const isReady = (): Promise<boolean> =>
    context.withAdministrator(progress, (client) => isApiReady(client, progress.signal));
  try {
    return (await isReady()) ? undefined : '/readyz does not answer with 200';
  } catch (error) {
    progress.signal.throwIfAborted();
    return describeError(error);
  }
}

async function requireCertificates(context: Context, progress: Progress): Promise<void> {
  const { paths, settings } = context;
  const nodeName = context.hostname();
  await context.withAdministrator(progress, async (client) => {
    if (!isValid(await pairOf(paths, kubeletPaths.clientPair))) {
      const approve = (signal: AbortSignal) =>
        approveOwnClientRequests(
          client,
          { nodeName },
          {
            signal,
            report: (decision) => progress.say(...describeDecision(decision)),
          },
        );
      await approvedUntil(paths.at(kubeletPaths.clientPair), approve, settings, progress, {
        isAwaited: isValid,
        waitingFor: "the kubelet's client certificate",
      });
    }
    if (isValid(await pairOf(paths, kubeletPaths.servingPair))) return;
    await approveUntil(context, client, progress, {
      isAwaited: isValid,
      waitingFor: "the kubelet's serving certificate",
    });
  });
}

const pairOf = (paths: HostPaths, path: string) => readTextIfPresent(paths.at(path));

/** By the clock, which is right by now. A file that is being replaced is not valid yet. */
function isValid(pem: string | undefined): boolean {
  if (pem === undefined) return false;
  try {
    const { notBefore, notAfter } = validityOf(pem);
    const now = new Date();
    return notBefore <= now && now < notAfter;
  } catch {
    return false;
  }
}
