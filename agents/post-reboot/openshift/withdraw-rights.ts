import type { Resource } from '../../../lib/clients/kube/resources.ts';
import { objectSchema } from '../../../lib/clients/kube/resources.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { csrApprover } from '../../../lib/render/openshift/agent-identities.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';

const kinds: readonly Resource[] = ['clusterrolebindings', 'clusterroles'].map((plural) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  plural,
  schema: objectSchema,
}));

/** Deletes the role with which this host's requests were approved: later ones are the cluster's. */
export const withdrawRights: StepBody<HostContext> = {
  name: 'withdraw-rights',
  leaves: 'no role of the agents that approves requests',
  touches: ['api'],
  retries: true,
  neededUntil: 'clean',
  input: ({ cluster }) => cluster.clusterId,
  holds: async () => true,
  async run(context, progress) {
    const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
    await context.withAdministrator(progress, async (client) => {
      for (const kind of kinds) await client.remove(kind, { name: csrApprover }, limits);
    });
    return done();
  },
};
