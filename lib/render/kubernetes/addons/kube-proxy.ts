import type { KubernetesObject, V1ConfigMap, V1DaemonSet } from '@kubernetes/client-node';
import { writeGoYaml } from '../../../base/go-yaml/write.ts';
import { type Family, familyOf } from '../../../base/network/address.ts';
import { fingerprint } from '../../../engine/steps/fingerprint.ts';
import type { KeylessInput } from '../../renderer.ts';
import {
  addOnPod,
  clusterRoleBinding,
  hostKubeconfig,
  hostLiveness,
  onHostNetwork,
  payloadImage,
  restricted,
  serviceAccount,
  systemNamespace,
} from './objects.ts';

const account = { name: 'kube-proxy', namespace: systemNamespace };
const folder = '/var/lib/kube-proxy';
const healthPort = 10256;
const EVERYWHERE: Readonly<Record<Family, string>> = { IPv4: '0.0.0.0/0', IPv6: '::/0' };

/** Addresses of Services: kube-proxy in nftables mode, on the host's network. */
export function kubeProxy(image: string, input: KeylessInput): (KubernetesObject | V1ConfigMap)[] {
  const config = writeGoYaml(configuration(input));
  return [
    serviceAccount(account),
    // Kubernetes' own role for it: Services, endpoints and nodes, to read.
    clusterRoleBinding('sno:kube-proxy', 'system:node-proxier', account),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: account,
      data: {
        'config.yaml': config,
        'kubeconfig.yaml': writeGoYaml(hostKubeconfig(account)),
      },
    },
    daemonSet(image, fingerprint(config)),
  ];
}

function configuration({ cluster }: KeylessInput) {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: `${folder}/kubeconfig.yaml` },
    // Traffic from outside the pod network reaches pods from the host's address, so that replies
    // return through the host.
    detectLocalMode: 'ClusterCIDR',
    clusterCIDR: cluster.clusterNetwork.map(({ cidr }) => cidr).join(','),
    // By default, node ports are open only on the addresses that the node has when kube-proxy
    // starts. Addresses in these networks are looked up again at each change. Of a relocatable node,
    // only the internal address is known.
    nodePortAddresses:
      cluster.relocatable === true
        ? cluster.machineNetwork.map((network) => EVERYWHERE[familyOf(network)])
        : cluster.machineNetwork,
    // Probes reach loopback, since the pod is on the host's network. The default is all addresses.
    healthzBindAddress: `127.0.0.1:${healthPort}`,
    metricsBindAddress: '127.0.0.1:10249',
    // The operating system sets the host's sysctls, as it does for the kubelet. Other values would
    // require write access to /proc/sys, which only a privileged container has.
    conntrack: {
      maxPerCore: 0,
      min: 0,
      tcpEstablishedTimeout: '0s',
      tcpCloseWaitTimeout: '0s',
    },
  };
}

function daemonSet(image: string, configDigest: string): V1DaemonSet {
  const selected = { 'k8s-app': 'kube-proxy' };
  const labels = { ...selected, ...addOnPod('kube-proxy') };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...account, labels: selected },
    spec: {
      selector: { matchLabels: selected },
      template: {
        // It reads its configuration only when it starts: another one replaces the pod.
        metadata: { labels, annotations: { 'sno-agents/config': configDigest } },
        spec: {
          ...onHostNetwork(account),
          containers: [
            {
              name: 'kube-proxy',
              ...payloadImage(image),
              command: [
                'kube-proxy',
                `--config=${folder}/config.yaml`,
                '--hostname-override=$(NODE_NAME)',
              ],
              env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
              resources: { requests: { cpu: '50m', memory: '64Mi' } },
              // nft changes the host's rules.
              securityContext: restricted('NET_ADMIN'),
              livenessProbe: hostLiveness('/livez', healthPort),
              readinessProbe: {
                httpGet: { host: '127.0.0.1', path: '/healthz', port: healthPort },
                periodSeconds: 2,
                timeoutSeconds: 15,
              },
              volumeMounts: [{ name: 'config', mountPath: folder, readOnly: true }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name: account.name } }],
        },
      },
    },
  };
}
