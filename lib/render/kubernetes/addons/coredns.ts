import type {
  KubernetesObject,
  V1ConfigMap,
  V1Deployment,
  V1Service,
  V1ServicePort,
} from '@kubernetes/client-node';
import type { KeylessInput } from '../../renderer.ts';
import { clusterDnsIp } from '../addresses.ts';
import {
  addOnPod,
  asNobody,
  clusterRole,
  clusterRoleBinding,
  onControlPlane,
  payloadImage,
  restricted,
  serviceAccount,
  systemNamespace,
} from './objects.ts';

const account = { name: 'coredns', namespace: systemNamespace };
const role = 'sno:coredns';
/** Kubernetes' own tests look for the cluster's DNS by this label. */
const labels = { 'k8s-app': 'kube-dns' };

/**
 * Not 53: if the host's resolver is on 127.0.0.1, so is the one in the pod's resolv.conf, and
 * CoreDNS would forward queries to itself. Nothing in the pod listens on port 53.
 */
const dnsPort = 1053;
const healthPort = 8080;
const readyPort = 8181;
const metricsPort = 9153;

/** The cluster's DNS, at the address that the kubelet writes to the resolv.conf of pods. */
export function coredns(image: string, input: KeylessInput): (KubernetesObject | V1ConfigMap)[] {
  return [
    serviceAccount(account),
    clusterRole(role, [
      { apiGroups: [''], resources: ['namespaces', 'services'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ]),
    clusterRoleBinding(role, role, account),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: account, data: { Corefile: corefile } },
    service(input),
    deployment(image),
  ];
}

/**
 * CoreDNS does not start, and resolves no cluster name, if `forward` has no server at all. The last
 * one is for a host without name servers: it refuses every query at once.
 */
const corefile = `.:${dnsPort} {
    errors
    health :${healthPort} {
        lameduck 5s
    }
    ready :${readyPort}
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    prometheus :${metricsPort}
    forward . /etc/resolv.conf 127.0.0.1 {
        policy sequential
        max_concurrent 1000
    }
    cache 30 {
        disable success cluster.local
        disable denial cluster.local
    }
    loadbalance
    reload
}
`;

function service({ cluster }: KeylessInput): V1Service {
  const port = (
    name: string,
    number: number,
    targetPort: number,
    protocol: 'TCP' | 'UDP',
  ): V1ServicePort => ({
    name,
    port: number,
    targetPort,
    protocol,
  });
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kube-dns',
      namespace: account.namespace,
      labels: {
        ...labels,
        'kubernetes.io/cluster-service': 'true',
        'kubernetes.io/name': 'CoreDNS',
      },
    },
    spec: {
      clusterIP: clusterDnsIp(cluster),
      ipFamilyPolicy: 'SingleStack',
      selector: labels,
      ports: [
        port('dns', 53, dnsPort, 'UDP'),
        port('dns-tcp', 53, dnsPort, 'TCP'),
        port('metrics', metricsPort, metricsPort, 'TCP'),
      ],
    },
  };
}

function deployment(image: string): V1Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...account, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      // The new pod is ready before the old one stops.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels: { ...labels, ...addOnPod('coredns') } },
        spec: {
          // The host's name servers, not its own Service address.
          dnsPolicy: 'Default',
          enableServiceLinks: false,
          serviceAccountName: account.name,
          priorityClassName: 'system-cluster-critical',
          tolerations: onControlPlane,
          securityContext: asNobody,
          containers: [
            {
              name: 'coredns',
              ...payloadImage(image),
              // Without the program's name: images have it in different folders.
              args: ['-conf', '/etc/coredns/Corefile'],
              resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '256Mi' } },
              ports: [
                { name: 'dns', containerPort: dnsPort, protocol: 'UDP' },
                { name: 'dns-tcp', containerPort: dnsPort, protocol: 'TCP' },
                { name: 'metrics', containerPort: metricsPort, protocol: 'TCP' },
              ],
              // Its port does not need it, but the program in the usual image has this file capability
              // and cannot be executed without it.
              securityContext: restricted('NET_BIND_SERVICE'),
              livenessProbe: {
                httpGet: { path: '/health', port: healthPort },
                initialDelaySeconds: 10,
                periodSeconds: 10,
                timeoutSeconds: 5,
                failureThreshold: 5,
              },
              readinessProbe: {
                httpGet: { path: '/ready', port: readyPort },
                periodSeconds: 2,
                timeoutSeconds: 5,
              },
              volumeMounts: [{ name: 'config', mountPath: '/etc/coredns', readOnly: true }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name: account.name } }],
        },
      },
    },
  };
}
