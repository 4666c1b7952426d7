import type { KubernetesObject, V1ConfigMap, V1DaemonSet, V1EnvVar } from '@kubernetes/client-node';
import { writeGoYaml } from '../../../base/go-yaml/write.ts';
import { familyOf } from '../../../base/network/address.ts';
import { ROUTED_LABEL } from '../../../config/topology/routed.ts';
import type { KeylessInput } from '../../renderer.ts';
import { ownNodeOnly } from './flannel-policy.ts';
import {
  addOnPod,
  clusterRole,
  clusterRoleBinding,
  hostKubeconfig,
  hostLiveness,
  onHostNetwork,
  payloadImage,
  restricted,
  serviceAccount,
  systemNamespace,
} from './objects.ts';

const account = { name: 'flannel', namespace: systemNamespace };
const role = 'sno:flannel';
const folder = '/etc/kube-flannel';
const healthPort = 10261;

/**
 * Routes between the pod networks of several nodes: flannel with its backend host-gw, which routes the
 * subnets of each node to the address of that node. Nothing is encapsulated, so the nodes must be in
 * one network. It runs on workers, and on the control-plane host as soon as that has the label for it:
 * a host alone needs no routes.
 *
 * It sets up no address translation (`pod-egress.nft` does) and no network plugin.
 */
export function flannel(image: string, input: KeylessInput): (KubernetesObject | V1ConfigMap)[] {
  return [
    serviceAccount(account),
    clusterRole(role, [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
    ]),
    clusterRoleBinding(role, role, account),
    ...ownNodeOnly(account),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: account,
      data: {
        'net-conf.json': JSON.stringify(networkOf(input)),
        'kubeconfig.yaml': writeGoYaml(hostKubeconfig(account)),
      },
    },
    daemonSet(image, input),
  ];
}

/** In flannel's format. The controller-manager allocates the subnets of nodes. */
function networkOf({ cluster }: KeylessInput) {
  const networks = cluster.clusterNetwork.map(({ cidr }) =>
    familyOf(cidr) === 'IPv4'
      ? { EnableIPv4: true, Network: cidr }
      : { EnableIPv6: true, IPv6Network: cidr },
  );
  return Object.assign({ EnableIPv4: false }, ...networks, { Backend: { Type: 'host-gw' } });
}

/**
 * The interface with the address of the node. flannel takes only the first address, and for two
 * families it must be that of IPv4; otherwise it chooses the interface of the default route.
 */
function interfaceArgs({ cluster }: KeylessInput): string[] {
  const [primary, secondary] = cluster.clusterNetwork.map(({ cidr }) => familyOf(cidr));
  return primary === 'IPv6' && secondary !== undefined ? [] : ['--iface=$(NODE_IP)'];
}

function daemonSet(image: string, input: KeylessInput): V1DaemonSet {
  const selected = { 'k8s-app': 'flannel' };
  const field = (name: string, fieldPath: string): V1EnvVar => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...account, labels: selected },
    spec: {
      selector: { matchLabels: selected },
      template: {
        metadata: { labels: { ...selected, ...addOnPod('flannel') } },
        spec: {
          ...onHostNetwork(account),
          affinity: { nodeAffinity: onSeveralNodes(input) },
          containers: [
            {
              name: 'flannel',
              ...payloadImage(image),
              // Without the program's name: images have it in different folders.
              args: [
                '--kube-subnet-mgr',
                `--kubeconfig-file=${folder}/kubeconfig.yaml`,
                `--net-config-path=${folder}/net-conf.json`,
                ...interfaceArgs(input),
                '--ip-masq=false',
                '--iptables-forward-rules=false',
                // The status of a node is the kubelet's.
                '--set-node-network-unavailable=false',
                '--healthz-ip=127.0.0.1',
                `--healthz-port=${healthPort}`,
              ],
              env: [field('NODE_NAME', 'spec.nodeName'), field('NODE_IP', 'status.hostIP')],
              resources: { requests: { cpu: '20m', memory: '50Mi' } },
              // It changes the host's routes.
              securityContext: restricted('NET_ADMIN'),
              livenessProbe: hostLiveness('/healthz', healthPort),
              volumeMounts: [
                { name: 'config', mountPath: folder, readOnly: true },
                { name: 'run', mountPath: '/run/flannel' },
              ],
            },
          ],
          volumes: [
            { name: 'config', configMap: { name: account.name } },
            { name: 'run', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
          ],
        },
      },
    },
  };
}

/**
 * Every node but the one of the control plane, and that one with the label. By its name: when a node
 * registers, it has no label yet that tells its role.
 */
function onSeveralNodes({ host }: KeylessInput) {
  const others = { key: 'metadata.name', operator: 'NotIn', values: [host.hostname] };
  return {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchFields: [others] },
        { matchExpressions: [{ key: ROUTED_LABEL, operator: 'Exists' }] },
      ],
    },
  };
}
