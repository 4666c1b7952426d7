import { type Access, readKubeconfig } from '../../../lib/clients/kube/kubeconfig.ts';
import { gatherIdentity } from '../../../lib/clients/rights/gather.ts';
import { accessTo } from '../../../lib/render/access.ts';
import { signedAccess } from '../../../lib/render/signed-access.ts';
import type { GatherHost } from '../gather-host.ts';
import { present } from './present.ts';

/** An identity for API requests. */
export interface ApiIdentity {
  /** Name of the identity, for messages. */
  readonly name: string;
  /** Whether it has all rights, and so may list metadata of resources that hold secrets. */
  readonly isAdministrator: boolean;
  /** @throws Failure that says why it cannot be used */
  access(): Promise<Access>;
}

/** Kubeconfigs of OpenShift's hosts: the node's own, the bootstrap's. */
const OPENSHIFT_KUBECONFIGS = [
  '/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig',
  '/etc/kubernetes/bootstrap-secrets/kubeconfig',
  '/opt/openshift/auth/kubeconfig',
];

/**
 * The identities with which this host can use its API, the best first; none if no control plane
 * was rendered. The installed host keeps no identity for this: its authority signs a
 * ten-minute certificate in memory, with the rights of lib/clients/rights/gather.ts.
 */
export async function identitiesOf(host: GatherHost): Promise<ApiIdentity[]> {
  const { kubeconfigs, gather } = accessTo('kubernetes');
  const { at } = host.paths;
  return present([
    ...(host.stage === 'live'
      ? [administrator(at(kubeconfigs.bootstrapAdmin), "the bootstrap's administrator")]
      : []),
    {
      place: at(gather.signer.key),
      name: gatherIdentity,
      isAdministrator: false,
      access: () => signedAccess('kubernetes', host.paths, gatherIdentity),
    },
    ...OPENSHIFT_KUBECONFIGS.map((path) => administrator(at(path), path)),
  ]);
}

const administrator = (place: string, name: string) => ({
  place,
  name,
  isAdministrator: true,
  access: () => readKubeconfig(place),
});
