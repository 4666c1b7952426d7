import t from 'tap';
import { parse } from 'yaml';
import { authorities, textAt } from './rendered-host.ts';

const clientCAFile = '/etc/kubernetes/pki/kubelet/client-ca.crt';

/** What both kubelets have. */
const everyKubelet = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  staticPodPath: '/etc/kubernetes/manifests',
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  // As the runtime says, or no pod starts.
  cgroupDriver: 'systemd',
  // It answers anybody.
  readOnlyPort: 0,
  tlsMinVersion: 'VersionTLS12',
  protectKernelDefaults: false,
  failSwapOn: false,
  // A fork bomb ends with its pod.
  podPidsLimit: 4096,
  // The default of a pod that says nothing is Unconfined.
  seccompDefault: true,
  volumePluginDir: '/etc/kubernetes/kubelet-plugins/volume/exec',
};

const CONFIGURATIONS: readonly [path: string, what: string, expected: object][] = [
  [
    '/etc/kubernetes/kubelet.yaml',
    'a node answers who the API server says may ask',
    {
      ...everyKubelet,
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile },
      },
      authorization: { mode: 'Webhook' },
      rotateCertificates: true,
      serverTLSBootstrap: true,
      clusterDomain: 'cluster.local',
      clusterDNS: ['172.30.0.10'],
      imageGCHighThresholdPercent: 85,
      imageGCLowThresholdPercent: 80,
      shutdownGracePeriod: '60s',
      shutdownGracePeriodCriticalPods: '30s',
    },
  ],
  [
    '/etc/kubernetes/kubelet-live.yaml',
    'the standalone kubelet answers nobody and deletes no image',
    {
      ...everyKubelet,
      enableServer: false,
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: false },
        x509: { clientCAFile },
      },
      authorization: { mode: 'AlwaysAllow' },
      rotateCertificates: false,
      serverTLSBootstrap: false,
      imageGCHighThresholdPercent: 100,
      imageGCLowThresholdPercent: 99,
    },
  ],
  [
    '/etc/kubernetes/kube-scheduler/config.yaml',
    'the scheduler waits for its Lease and cannot be profiled',
    {
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      clientConnection: { kubeconfig: '/etc/kubernetes/kube-scheduler/kubeconfig' },
      leaderElection: {
        leaderElect: true,
        leaseDuration: '60s',
        renewDeadline: '45s',
        retryPeriod: '3s',
      },
      enableProfiling: false,
    },
  ],
  [
    '/etc/kubernetes/kube-apiserver/authentication.yaml',
    'nobody is anonymous but a prober',
    {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      jwt: [],
      anonymous: {
        enabled: true,
        conditions: [{ path: '/livez' }, { path: '/readyz' }, { path: '/healthz' }],
      },
    },
  ],
  [
    '/etc/cni/net.d/10-sno.conflist',
    "pods have the node's subnet, reach their own Services, and leave under its address",
    {
      cniVersion: '1.0.0',
      name: 'sno',
      plugins: [
        {
          type: 'bridge',
          bridge: 'sno0',
          isGateway: true,
          ipMasq: true,
          // A pod that asks a Service of which it is the only endpoint gets an answer.
          hairpinMode: true,
          ipam: {
            type: 'host-local',
            ranges: [[{ subnet: '10.128.0.0/23' }]],
            routes: [{ dst: '0.0.0.0/0' }],
            dataDir: '/run/cni/ipam',
          },
        },
        { type: 'portmap', capabilities: { portMappings: true } },
      ],
    },
  ],
];

for (const [path, what, expected] of CONFIGURATIONS) {
  t.test(what, async (t) => {
    t.same(parse(textAt(path)), expected);
  });
}

t.test('the kubelet knows administrators and the API server, no node', async (t) => {
  t.equal(textAt(clientCAFile), authorities.adminCa.certificate);
});

t.test('Secrets have one provider, so that nothing in plain text is read or written', async (t) => {
  const { resources, ...head } = parse(textAt('/etc/kubernetes/kube-apiserver/encryption.yaml'));
  t.same(head, { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' });
  t.equal(resources.length, 1);
  const [{ resources: kinds, providers }] = resources;
  t.same(kinds, ['secrets']);
  t.equal(providers.length, 1);
  const [{ secretbox, ...others }] = providers;
  t.same(others, {});
  t.equal(secretbox.keys.length, 1);
  // Part of what is stored: a key of another name does not decrypt it.
  t.equal(secretbox.keys[0].name, 'key1');
  t.equal(Buffer.from(secretbox.keys[0].secret, 'base64').length, 32, 'what the cipher takes');
});
