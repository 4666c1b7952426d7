import { Failure } from '../../../lib/base/errors/failure.ts';
import { resourcePath, resources } from '../../../lib/clients/kube/resources.ts';
import { API_TRUST_ANNOTATION, trusts } from '../../../lib/cluster/workers/api-trust.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { asNode } from '../../steps/own-node.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import type { TrustContext } from './context.ts';
import { readByKubelet } from './kubelet-record.ts';

/** Tells the control-plane host by which CAs the kubelet knows the API server: a rotation waits for that. */
export const confirmTrust: StepBody<TrustContext> = {
  name: 'confirm',
  leaves: `the annotation ${API_TRUST_ANNOTATION} of the own Node: the digest of what the kubelet trusts`,
  touches: ['disk', 'api', 'network', 'clock'],
  retries: true,
  input: ({ run }) => run,
  holds: async () => true,
  async run(context, { signal }) {
    const name = context.hostname();
    const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
    const digest = await readByKubelet(context.paths);
    if (digest === undefined) {
      throw new Failure('retry', 'it is not known what the kubelet trusts', {
        fix: 'Run "systemctl start sno-worker-trust": it restarts the kubelet.',
      });
    }
    using client = await asNode(context);
    const node = await client.find(resources.nodes, { name }, limits);
    if (node === undefined) {
      throw new Failure('retry', `the cluster has no Node ${name}`, {
        fix: 'If it was deleted by mistake, run "systemctl restart kubelet" on this worker: it is registered again.',
      });
    }
    if (trusts(node, digest)) return done('confirmed already');
    await client.json(
      {
        method: 'PATCH',
        path: resourcePath(resources.nodes, { name }),
        contentType: 'application/merge-patch+json',
        body: { metadata: { annotations: { [API_TRUST_ANNOTATION]: digest } } },
      },
      limits,
    );
    return done(`sha256:${digest}`);
  },
};
