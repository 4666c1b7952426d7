import type { KubernetesObject } from '@kubernetes/client-node';
import { z } from 'zod';
import { productVersion } from '../../base/version.ts';
import type { Limits } from '../../base/wait/limits.ts';
import { groupSubject, rbacBinding } from '../rights/rbac.ts';
import type { KubeClient } from './client.ts';
import { putConfigMap } from './config-map.ts';
import { resources } from './resources.ts';

/**
 * The group of administrators whose certificates the cluster signs on request. The API server admits
 * no request for `system:masters` (admission plug-in CertificateSubjectRestriction).
 */
export const ADMINISTRATORS_GROUP = 'sno:administrators';

/** Gives that group all rights, which can be withdrawn, unlike those of `system:masters`. */
export function administratorsAccess(): KubernetesObject[] {
  const name = ADMINISTRATORS_GROUP;
  return [rbacBinding({ name }, groupSubject(name), 'cluster-admin')];
}

const NAMESPACE = 'kube-system';
const NAME = 'sno-administrators';

/** Data of ConfigMap kube-system/sno-administrators: what became of the laptop's authority. */
const recordSchema = z.object({
  version: z.string(),
  /** Nobody needs a certificate any more that it signed. */
  laptopCa: z.literal('replaced'),
  time: z.iso.datetime(),
});

/**
 * Records that the first kubeconfig was exchanged, so that the host stops trusting the authority
 * that signed it. A record that exists is replaced: it may be of an earlier host of this cluster.
 */
export async function recordReplacedLaptopCa(
  client: KubeClient,
  now: Date,
  limits: Limits,
): Promise<void> {
  const data: z.infer<typeof recordSchema> = {
    version: productVersion,
    laptopCa: 'replaced',
    time: now.toISOString(),
  };
  await putConfigMap(client, { namespace: NAMESPACE, name: NAME }, data, limits);
}

/**
 * Whether there is such a record of an authority that was created then. One from before is of the authority of a lost
 * host, whose cluster a backup has brought here.
 */
export async function isLaptopCaReplaced(
  client: KubeClient,
  created: Date,
  limits: Limits,
): Promise<boolean> {
  const place = { namespace: NAMESPACE, name: NAME };
  const found = await client.find(resources.configMaps, place, limits);
  const { data } = recordSchema.safeParse(found?.data);
  return data !== undefined && new Date(data.time) >= created;
}
