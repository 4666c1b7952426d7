import type { KubernetesObject } from '@kubernetes/client-node';
import { z } from 'zod';
import type { Limits } from '../../base/wait/limits.ts';
import { groupSubject, rbacBinding, rbacRole } from '../rights/rbac.ts';
import type { KubeClient } from './client.ts';
import { putConfigMap } from './config-map.ts';

/**
 * The state of the installation, as data of ConfigMap kube-system/sno-installation. The installed
 * host writes it; `sno wait-for install-complete` and fleet automation watch it.
 */
export const installationStatusSchema = z.object({
  /** Version of the agents that wrote it. */
  version: z.string(),
  /** `complete` is final. After `failed` the agent can be started again, which sets `installing`. */
  state: z.enum(['installing', 'complete', 'failed']),
  /** The step that runs or that failed; the last one when complete. */
  step: z.string(),
  /** ISO 8601, of this state and step. */
  time: z.iso.datetime(),
  /** Created by `sno create`; distinguishes installations of the same name. */
  clusterId: z.uuid(),
  /** For `failed`: what failed, in one sentence. */
  message: z.string().optional(),
});
export type InstallationStatus = z.infer<typeof installationStatusSchema>;

export const STATUS_NAMESPACE = 'kube-system';
export const STATUS_NAME = 'sno-installation';

/**
 * Creates or replaces the ConfigMap. A `complete` of the same installation is kept: the agent may be
 * started once more while it removes itself.
 */
export async function publishInstallationStatus(
  client: KubeClient,
  status: InstallationStatus,
  limits: Limits,
): Promise<void> {
  const place = { namespace: STATUS_NAMESPACE, name: STATUS_NAME };
  await putConfigMap(client, place, { ...status }, limits, (known) => {
    const { data } = installationStatusSchema.safeParse(known);
    return data?.state === 'complete' && data.clusterId === status.clusterId;
  });
}

/** User, group, Role and RoleBinding of the agent that writes the status. */
export const statusIdentity = 'sno-agents:installation';

/** Allows creating ConfigMaps in kube-system, which RBAC cannot limit by name, and reading and updating this one. */
export function installationStatusAccess(): KubernetesObject[] {
  const own = { name: statusIdentity, namespace: STATUS_NAMESPACE };
  const configMaps = { apiGroups: [''], resources: ['configmaps'] };
  return [
    rbacRole(own, [
      { ...configMaps, verbs: ['create'] },
      { ...configMaps, resourceNames: [STATUS_NAME], verbs: ['get', 'update'] },
    ]),
    rbacBinding(own, groupSubject(statusIdentity)),
  ];
}
