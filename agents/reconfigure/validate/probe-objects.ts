import { restricted } from '../../../lib/render/kubernetes/addons/objects.ts';

export const PROBE_NAMESPACE = 'sno-validate';
export const PROBE_NAME = 'probe';
/** Of clients of etcd. */
export const PROBE_PORT = 2379;
const PEERS = 'http://127.0.0.1:2380';
const FILE = 'etcd.yaml';

export interface ProbeOptions {
  /** etcd of the payload: it is on every host, serves HTTP, and keeps what it is told. */
  readonly image: string;
  /** Of the pod. */
  readonly securityContext: object;
  /** What its ConfigMap says, and it repeats. */
  readonly token: string;
  /** Whether there is a default StorageClass. */
  readonly hasVolumes: boolean;
}

const labels = { app: PROBE_NAME };
export const PROBE_SELECTOR = `app=${PROBE_NAME}`;
const metadata = { name: PROBE_NAME, namespace: PROBE_NAMESPACE };

/** The probe is a separate etcd that has nothing to do with the cluster's. Objects in the order in which they are created. */
export const probeObjects = (options: ProbeOptions): object[] => [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: PROBE_NAMESPACE,
      labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { [FILE]: `${JSON.stringify(configuration(options))}\n` },
  },
  ...(options.hasVolumes ? [claim] : []),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      type: 'NodePort',
      ipFamilyPolicy: 'PreferDualStack',
      selector: labels,
      ports: [{ port: PROBE_PORT }],
    },
  },
  deployment(options),
];

const configuration = ({ token }: ProbeOptions) => ({
  name: token,
  'data-dir': '/data/etcd',
  'listen-client-urls': `http://0.0.0.0:${PROBE_PORT}`,
  'advertise-client-urls': `http://127.0.0.1:${PROBE_PORT}`,
  'listen-peer-urls': PEERS,
  'initial-advertise-peer-urls': PEERS,
  'initial-cluster': `${token}=${PEERS}`,
});

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata,
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
};

const deployment = ({ image, securityContext, hasVolumes }: ProbeOptions) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    // Never two at once: both would open the same database.
    strategy: { type: 'Recreate' },
    template: {
      metadata: { labels },
      spec: {
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 5,
        securityContext,
        containers: [
          {
            name: PROBE_NAME,
            image,
            imagePullPolicy: 'Never',
            command: ['etcd', `--config-file=/config/${FILE}`],
            ports: [{ containerPort: PROBE_PORT }],
            readinessProbe: { httpGet: { path: '/health', port: PROBE_PORT }, periodSeconds: 1 },
            securityContext: restricted(),
            volumeMounts: [
              { name: 'config', mountPath: '/config' },
              { name: 'data', mountPath: '/data' },
            ],
          },
        ],
        volumes: [
          { name: 'config', configMap: { name: PROBE_NAME } },
          hasVolumes
            ? { name: 'data', persistentVolumeClaim: { claimName: PROBE_NAME } }
            : { name: 'data', emptyDir: {} },
        ],
      },
    },
  },
});
