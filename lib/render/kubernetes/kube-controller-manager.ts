import { lifetimes } from '../../pki/lifetimes.ts';
import type { KeylessInput, RenderedFile, StaticPod } from '../renderer.ts';
import { nodeMaskSizes } from './addresses.ts';
import {
  type Authorities,
  type AuthorityName,
  authorityPaths,
  clientBundle,
} from './authorities.ts';
import { emulation } from './emulation.ts';
import { publicFile } from './files.ts';
import { componentKubeconfig } from './kubeconfigs.ts';
import { leaderElection } from './leader-election.ts';
import { issuedLeaves } from './leaves.ts';
import { paths } from './paths.ts';
import { serviceAccount } from './service-account.ts';
import { flags, staticPod } from './static-pod.ts';

const component = 'kube-controller-manager';
const port = 10257;
const folder = paths.pkiOf(component);

/** Whom the controller-manager trusts: files with authorities. */
export const controllerManagerTrust = {
  /** Every pod gets it too, to verify the API server. */
  api: `${folder}/api-ca.crt`,
  clients: `${folder}/client-ca.crt`,
  frontProxy: `${folder}/front-proxy-ca.crt`,
} as const;

const kubeconfigPath = `${paths.configOf(component)}/kubeconfig`;

/**
 * The controller-manager's signers. Each has its own authority. With one of these pairs of flags the general pair is
 * rejected, and a signer without a pair is skipped without an error.
 */
export const signers = {
  'kubelet-serving': 'kubelet-serving',
  'kubelet-client': 'kubelet-client',
  'kube-apiserver-client': 'admin',
  'legacy-unknown': 'legacy-unknown',
} as const satisfies Record<string, AuthorityName>;

export function controllerManagerFiles(authorities: Authorities): RenderedFile[] {
  return [
    publicFile(controllerManagerTrust.api, authorities.serving.certificate),
    publicFile(controllerManagerTrust.clients, clientBundle(authorities)),
    publicFile(controllerManagerTrust.frontProxy, authorities['front-proxy'].certificate),
    componentKubeconfig(kubeconfigPath, issuedLeaves.controllerManager, controllerManagerTrust.api),
  ];
}

export function controllerManagerPod(input: KeylessInput): StaticPod {
  const { cluster } = input;
  const args = flags({
    'bind-address': '127.0.0.1',
    'secure-port': port,
    'tls-min-version': 'VersionTLS12',
    kubeconfig: kubeconfigPath,
    'authentication-kubeconfig': kubeconfigPath,
    'authorization-kubeconfig': kubeconfigPath,
    // Configured here instead of looked up: the API may start later.
    'authentication-skip-lookup': true,
    'client-ca-file': controllerManagerTrust.clients,
    'requestheader-client-ca-file': controllerManagerTrust.frontProxy,
    'requestheader-allowed-names': [issuedLeaves.frontProxyClient.subject.commonName],
    profiling: false,

    'leader-elect': true,
    'leader-elect-lease-duration': leaderElection.leaseDuration,
    'leader-elect-renew-deadline': leaderElection.renewDeadline,
    'leader-elect-retry-period': leaderElection.retryPeriod,

    // Expired bootstrap tokens are not accepted, and are deleted by a controller that is off by default.
    controllers: ['*', 'tokencleaner'],
    'use-service-account-credentials': true,
    'service-account-private-key-file': serviceAccount.privateKey,
    'root-ca-file': controllerManagerTrust.api,

    ...Object.fromEntries(Object.entries(signers).flatMap(signerFlags)),
    'cluster-signing-duration': `${lifetimes.leafDays * 24}h`,

    'allocate-node-cidrs': true,
    'cluster-cidr': cluster.clusterNetwork.map(({ cidr }) => cidr),
    ...nodeMaskSizes(cluster),
    'service-cluster-ip-range': cluster.serviceNetwork,
    // The default is under /usr, which is read-only in the container and on the host.
    'flex-volume-plugin-dir': `${paths.kubernetes}/kubelet-plugins/volume/exec`,
    ...emulation(input),
  });
  const health = { path: '/healthz', port, scheme: 'HTTPS' } as const;
  return staticPod(
    {
      component,
      role: 'leader',
      args,
      mounts: [
        { path: folder },
        { path: paths.configOf(component) },
        { path: paths.serviceAccount },
        ...Object.values(signers).map((name) => ({ path: authorityPaths(name).folder })),
      ],
      requests: { cpu: '100m', memory: '128Mi' },
      live: health,
      ready: health,
      terminationGracePeriodSeconds: 30,
    },
    input,
  );
}

function signerFlags([signer, name]: [string, AuthorityName]): [string, string][] {
  const { certificate, key } = authorityPaths(name);
  return [
    [`cluster-signing-${signer}-cert-file`, certificate],
    [`cluster-signing-${signer}-key-file`, key],
  ];
}
