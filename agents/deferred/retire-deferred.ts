import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import { deferredRole } from '../../lib/clients/rights/deferred.ts';
import { deferredState } from '../../lib/cluster/deferred/expiry.ts';
import { deferredFolder } from '../../lib/cluster/deferred/manifests.ts';
import { agentLinks } from '../../lib/engine/agents/links.ts';
import { DEFERRED_AGENT } from '../../lib/engine/agents/table.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, removeFile, syncDirectory } from '../../lib/host/files.ts';
import { disableUnit, reloadUnits } from '../../lib/host/systemd.ts';
import { deferredAccessOf, deferredIdentityOf } from '../../lib/render/deferred-identity.ts';
import { deferredUnit } from '../../units/installed.ts';
import { REQUEST_DEADLINE_MS } from '../steps/request-deadline.ts';
import type { DeferredContext } from './context.ts';

const unitPath = ({ paths }: DeferredContext) =>
  paths.at(`/etc/systemd/system/${deferredUnit.name}`);

/**
 * Deletes the agent's RBAC, then its credentials, then its state and link, the unit
 * last: after a kill in between, the agent is started once more, finds nothing to apply
 * and resumes here. The ConfigMap stays as the record.
 */
export const retireDeferred: StepBody<DeferredContext> = {
  name: 'retire',
  leaves: 'no RBAC, identity, unit, link or state of this agent',
  touches: ['disk', 'api', 'systemd'],
  retries: true,
  removesState: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: async (context) => !(await exists(unitPath(context))),
  async run(context, { signal }) {
    const { paths, cluster } = context;
    const own = deferredIdentityOf(cluster.controlPlane);
    // Without its kubeconfig, an earlier attempt has deleted them.
    const hasRights = own === undefined || (await exists(paths.at(own.kubeconfig)));
    if (hasRights) await removeRights(context, signal);
    for (const path of own === undefined ? [] : [own.kubeconfig, own.key, own.certificate]) {
      await removeFile(paths.at(path));
    }
    await rm(deferredFolder(paths), { recursive: true, force: true });
    await syncDirectory(paths.config);
    await rm(deferredState(paths), { recursive: true, force: true });
    for (const { path } of agentLinks([DEFERRED_AGENT])) await removeFile(paths.at(path));
    await syncDirectory(dirname(paths.binaries));
    if (await exists(unitPath(context))) await disableUnit(deferredUnit.name, signal);
    await removeFile(unitPath(context));
    await reloadUnits(signal);
    return done();
  },
};

async function removeRights(
  { paths, cluster }: DeferredContext,
  signal: AbortSignal,
): Promise<void> {
  const { resource, name } = deferredRole;
  using client = new KubeClient(await deferredAccessOf(cluster.controlPlane, paths));
  try {
    await client.remove(resource, { name }, { signal, deadlineMs: REQUEST_DEADLINE_MS });
  } catch (error) {
    // The role itself allows its deletion: a 403 means that it is already deleted.
    if (!isKubeError(error) || error.code !== 403) throw error;
  }
}
