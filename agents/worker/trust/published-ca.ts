import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { isKubeError } from '../../../lib/clients/kube/kube-error.ts';
import { type Access, readKubeconfig } from '../../../lib/clients/kube/kubeconfig.ts';
import { publishedRootCa } from '../../../lib/clients/kube/root-ca.ts';
import { ROOT_CA } from '../../../lib/clients/rights/workers.ts';
import { trustDigest } from '../../../lib/cluster/workers/api-trust.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { exists, readTextIfPresent, writeFileAtomic } from '../../../lib/host/files.ts';
import { kubeletPaths, kubeletTrust } from '../../../lib/render/kubernetes/kubelet.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import type { TrustContext } from './context.ts';
import { forgetReadByKubelet } from './kubelet-record.ts';

const PUBLISHED = `ConfigMap kube-system/${ROOT_CA}`;

/**
 * Takes over the CAs of the API server that the cluster publishes: during a rotation the old and the new one. They are asked
 * for with the identity of the kubelet, of a server that is verified by those that are trusted now, and
 * taken only if the server can be verified by them, too: others would cut the worker off.
 */
export const publishedCa: StepBody<TrustContext> = {
  name: 'published-ca',
  leaves: `${kubeletTrust.api}: the CAs of the API server that the cluster publishes`,
  touches: ['disk', 'api', 'network', 'clock'],
  retries: true,
  input: ({ run }) => run,
  holds: ({ paths }) => exists(paths.at(kubeletTrust.api)),
  async run({ paths }, { signal }) {
    const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
    const access = await readKubeconfig(paths.at(kubeletPaths.kubeconfig));
    const published = await publishedFor(access, limits);
    const path = paths.at(kubeletTrust.api);
    const present = await readTextIfPresent(path);
    if (present !== undefined && trustDigest(present) === trustDigest(published)) {
      return done('the kubelet has them already');
    }
    await requireVerified({ ...access, ca: published }, limits);
    await forgetReadByKubelet(paths);
    await writeFileAtomic(path, published, 0o644);
    return done(`replaced, now sha256:${trustDigest(published)}`);
  },
};

async function publishedFor(access: Access, limits: Limits): Promise<string> {
  using client = new KubeClient(access);
  const published = await publishedRootCa(client, limits).catch((cause: unknown) => {
    if (!isKubeError(cause, 'rejected') || cause.code !== 403) throw cause;
    throw new Failure('retry', `the cluster does not let this node read ${PUBLISHED}`, {
      fix: 'Run "sno create worker-ignition" for this cluster: it gives workers that right.',
      cause,
    });
  });
  if (published !== undefined) return published;
  throw new Failure('retry', `there is no CA in ${PUBLISHED}`, {
    expected: 'ca.crt, which the controller-manager publishes',
  });
}

async function requireVerified(access: Access, limits: Limits): Promise<void> {
  try {
    using client = new KubeClient(access);
    await publishedRootCa(client, limits);
  } catch (cause) {
    limits.signal.throwIfAborted();
    throw new Failure('retry', `the API server cannot be verified by the CAs in ${PUBLISHED}`, {
      expected: 'the CA of its certificate among them; the present ones stay until then',
      cause,
    });
  }
}
