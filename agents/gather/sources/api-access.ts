import { gatherIdentity } from '../../../lib/gather/access.ts';
import { type Access, readKubeconfig } from '../../../lib/kube/kubeconfig.ts';
import { accessTo } from '../../../lib/render/access.ts';
import { signedAccess } from '../../../lib/render/signed-access.ts';
import type { GatherHost } from '../gather-host.ts';
import { present } from './present.ts';

/** A way to ask the API. */
export interface Identity {
  /** Who asks, for people. */
  readonly name: string;
  /** Whether it may do anything, and so may list what holds secrets by its metadata. */
  readonly isAdministrator: boolean;
  /** @throws Failure that says why it cannot be used. */
  access(): Promise<Access>;
}

/** Kubeconfigs of OpenShift's hosts: the node's own, the bootstrap's. */
const OPENSHIFT_KUBECONFIGS = [
  '/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig',
  '/etc/kubernetes/bootstrap-secrets/kubeconfig',
  '/opt/openshift/auth/kubeconfig',
];

/**
 * By what this host could ask its API, the best first; none where no control plane was
 * rendered. The installed host keeps no identity for it: its authority signs a certificate
 * of ten minutes in memory, with the rights of lib/gather/access.ts.
 */
export async function identitiesOf(host: GatherHost): Promise<Identity[]> {
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
