import { parseJson } from '../../../lib/base/json.ts';
import { resourcePath } from '../../../lib/clients/kube/resources.ts';
import { CLUSTER_VERSION, clusterResources } from '../../../lib/cluster/openshift/operators.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent } from '../../../lib/host/files.ts';
import { OVERRIDES_PATCH } from '../../../lib/render/openshift/installed-node.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';

/**
 * Gives the version operator the objects back that openshift-install has declared as unmanaged for the
 * bootstrap: the overrides become those of the install-config.
 */
export const restoreOverrides: StepBody<HostContext> = {
  name: 'restore-overrides',
  leaves: "the ClusterVersion with the user's overrides instead of those of the bootstrap",
  touches: ['disk', 'api'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  // Whoever changes them afterwards may want to.
  holds: async () => true,
  async run(context, progress) {
    const text = await readTextIfPresent(context.paths.at(OVERRIDES_PATCH));
    if (text === undefined) return done('the bootstrap has set none');
    const path = resourcePath(clusterResources.versions, { name: CLUSTER_VERSION });
    const contentType = 'application/merge-patch+json';
    const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
    await context.withAdministrator(progress, (client) =>
      client.json({ method: 'PATCH', path, contentType, body: parseJson(text) }, limits),
    );
    return done();
  },
};
