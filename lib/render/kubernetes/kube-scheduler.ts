import { writeGoYaml } from '../../base/go-yaml/write.ts';
import type { KeylessInput, RenderedFile, StaticPod } from '../renderer.ts';
import { type Authorities, clientBundle } from './authorities.ts';
import { emulation } from './emulation.ts';
import { publicFile } from './files.ts';
import { componentKubeconfig } from './kubeconfigs.ts';
import { leaderElection } from './leader-election.ts';
import { issuedLeaves } from './leaves.ts';
import { paths } from './paths.ts';
import { flags, staticPod } from './static-pod.ts';

const component = 'kube-scheduler';
const port = 10259;
const folder = paths.pkiOf(component);

/** Whom the scheduler trusts: files with authorities. */
export const schedulerTrust = {
  api: `${folder}/api-ca.crt`,
  clients: `${folder}/client-ca.crt`,
  frontProxy: `${folder}/front-proxy-ca.crt`,
} as const;

const kubeconfigPath = `${paths.configOf(component)}/kubeconfig`;
const configPath = `${paths.configOf(component)}/config.yaml`;

export function schedulerFiles(authorities: Authorities): RenderedFile[] {
  const configuration = {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig: kubeconfigPath },
    leaderElection: { leaderElect: true, ...leaderElection },
    enableProfiling: false,
  };
  return [
    publicFile(schedulerTrust.api, authorities.serving.certificate),
    publicFile(schedulerTrust.clients, clientBundle(authorities)),
    publicFile(schedulerTrust.frontProxy, authorities['front-proxy'].certificate),
    componentKubeconfig(kubeconfigPath, issuedLeaves.scheduler, schedulerTrust.api),
    publicFile(configPath, writeGoYaml(configuration)),
  ];
}

export function schedulerPod(input: KeylessInput): StaticPod {
  const args = flags({
    config: configPath,
    'bind-address': '127.0.0.1',
    'secure-port': port,
    'tls-min-version': 'VersionTLS12',
    'authentication-kubeconfig': kubeconfigPath,
    'authorization-kubeconfig': kubeconfigPath,
    // Configured here instead of looked up: the API may start later.
    'authentication-skip-lookup': true,
    'client-ca-file': schedulerTrust.clients,
    'requestheader-client-ca-file': schedulerTrust.frontProxy,
    'requestheader-allowed-names': [issuedLeaves.frontProxyClient.subject.commonName],
    ...emulation(input),
  });
  const health = { port, scheme: 'HTTPS' } as const;
  return staticPod(
    {
      component,
      role: 'leader',
      args,
      mounts: [{ path: folder }, { path: paths.configOf(component) }],
      requests: { cpu: '50m', memory: '64Mi' },
      live: { path: '/livez', ...health },
      ready: { path: '/readyz', ...health },
      terminationGracePeriodSeconds: 30,
    },
    input,
  );
}
