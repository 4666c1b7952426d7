import t from 'tap';
import { parse } from 'yaml';
import { kubernetesRenderer } from '../../../lib/render/kubernetes/index.ts';
import {
  nodeKubeletFile,
  standaloneConfigFile,
  workerKubeletFiles,
} from '../../../lib/render/kubernetes/kubelet.ts';
import { input, textAt } from './rendered-host.ts';

const clientCAFile = '/etc/kubernetes/pki/kubelet/client-ca.crt';

/** Common to both kubelets. */
const everyKubelet = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  staticPodPath: '/etc/kubernetes/manifests',
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  // Must match the runtime's, otherwise no pod starts.
  cgroupDriver: 'systemd',
  // This port has no authentication.
  readOnlyPort: 0,
  tlsMinVersion: 'VersionTLS12',
  protectKernelDefaults: false,
  failSwapOn: false,
  // Limits a fork bomb to its pod.
  podPidsLimit: 4096,
  // The default without this is Unconfined.
  seccompDefault: true,
  volumePluginDir: '/etc/kubernetes/kubelet-plugins/volume/exec',
};

const CONFIGURATIONS: readonly [path: string, what: string, expected: object][] = [
  [
    '/etc/kubernetes/kubelet.yaml',
    'the kubelet of a node lets the API server authenticate and authorize clients',
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
      resolvConf: '/etc/resolv.conf',
      imageGCHighThresholdPercent: 85,
      imageGCLowThresholdPercent: 80,
      shutdownGracePeriod: '60s',
      shutdownGracePeriodCriticalPods: '30s',
    },
  ],
  [
    '/etc/kubernetes/kubelet-live.yaml',
    'the standalone kubelet has no server and deletes no image',
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
    'the scheduler waits for its Lease, without profiling',
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
    'anonymous requests reach the health paths only',
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
    '/etc/kubernetes/kube-apiserver/admission.yaml',
    'an editor of a namespace gets no privileged pod; static pods do',
    {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [
        {
          name: 'PodSecurity',
          configuration: {
            apiVersion: 'pod-security.admission.config.k8s.io/v1',
            kind: 'PodSecurityConfiguration',
            defaults: {
              enforce: 'baseline',
              'enforce-version': 'latest',
              audit: 'restricted',
              'audit-version': 'latest',
              warn: 'restricted',
              'warn-version': 'latest',
            },
            exemptions: { namespaces: ['kube-system'], usernames: [], runtimeClasses: [] },
          },
        },
      ],
    },
  ],
  [
    '/etc/cni/net.d/10-sno.conflist',
    "pods have addresses of the node's subnet and reach their own Services",
    {
      cniVersion: '1.0.0',
      name: 'sno',
      plugins: [
        {
          type: 'bridge',
          bridge: 'sno0',
          isGateway: true,
          // Lets a pod reach a Service whose only endpoint is the pod itself.
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

t.test('with reserved CPUs, whole CPUs of the others can be had exclusively', async (t) => {
  const cluster = { ...input.cluster, reservedCpus: '0-1' };
  const { files } = await kubernetesRenderer.render({ ...input, cluster });
  const text = files.find(({ path }) => path === '/etc/kubernetes/kubelet.yaml')?.contents;
  t.match(parse(text ?? ''), { reservedSystemCPUs: '0-1', cpuManagerPolicy: 'static' });
});

t.test('on cgroup v1, a kubelet that refuses it by default is told to use it', async (t) => {
  for (const [cgroupVersion, kubernetes, expected] of [
    [1, 'v1.34.4', undefined],
    [1, 'v1.35.0', false],
    [1, 'v1.37.2', false],
    [2, 'v1.34.4', undefined],
    [2, 'v1.37.2', undefined],
  ] as const) {
    const versions = { kubernetes, etcd: 'v3.6.16' };
    const kubelet = { cluster: input.cluster, host: { ...input.host, cgroupVersion, versions } };
    for (const { path, contents } of [
      standaloneConfigFile(kubelet),
      nodeKubeletFile(kubelet),
      ...workerKubeletFiles(kubelet, '').filter(({ path }) => path.endsWith('kubelet.yaml')),
    ]) {
      const what = `${path} of ${kubernetes} on cgroup v${cgroupVersion}`;
      t.strictSame(parse(contents).failCgroupV1, expected, what);
    }
  }
});

t.test(
  'an image that is there is for every pod, also while another one tries to pull it',
  async (t) => {
    for (const [kubernetes, expected] of [
      ['v1.34.4', undefined],
      ['v1.35.0', 'NeverVerify'],
      ['v1.37.2', 'NeverVerify'],
    ] as const) {
      const versions = { kubernetes, etcd: 'v3.6.16' };
      const kubelet = { cluster: input.cluster, host: { ...input.host, versions } };
      for (const { path, contents } of [
        standaloneConfigFile(kubelet),
        nodeKubeletFile(kubelet),
        ...workerKubeletFiles(kubelet, '').filter(({ path }) => path.endsWith('kubelet.yaml')),
      ]) {
        const { imagePullCredentialsVerificationPolicy: found } = parse(contents);
        t.equal(found, expected, `${path} of ${kubernetes}`);
      }
    }
  },
);

t.test('clients of the kubelet are administrators and the API server', async (t) => {
  t.equal(textAt(clientCAFile), textAt('/etc/kubernetes/pki/ca/admin/ca.crt'));
});

t.test('Secrets have one provider: plaintext is neither read nor written', async (t) => {
  const { resources, ...head } = parse(textAt('/etc/kubernetes/kube-apiserver/encryption.yaml'));
  t.same(head, { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' });
  t.equal(resources.length, 1);
  const [{ resources: kinds, providers }] = resources;
  t.same(kinds, ['secrets']);
  t.equal(providers.length, 1);
  const [{ secretbox, ...others }] = providers;
  t.same(others, {});
  t.equal(secretbox.keys.length, 1);
  // Stored with each Secret: the key does not decrypt it under another name.
  t.equal(secretbox.keys[0].name, 'key1');
  t.equal(Buffer.from(secretbox.keys[0].secret, 'base64').length, 32, 'the key size of the cipher');
});

t.test('with CRI-O, both kubelets use its socket', async (t) => {
  const host = { ...input.host, containerRuntime: 'cri-o' } as const;
  const { files } = await kubernetesRenderer.render({ ...input, host });
  for (const name of ['kubelet.yaml', 'kubelet-live.yaml']) {
    const file = files.find(({ path }) => path === `/etc/kubernetes/${name}`);
    t.match(parse(file?.contents ?? ''), {
      containerRuntimeEndpoint: 'unix:///run/crio/crio.sock',
    });
  }
});
