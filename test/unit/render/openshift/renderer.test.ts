import t from 'tap';
import { parse } from 'yaml';
import { installedHost, liveHost, neededBy } from '../../../../lib/render/hosts.ts';
import { FakePodman, results } from './fake-podman.ts';
import { liveHostOf } from './live-host.ts';
import { referenceOf } from './release.ts';

const CCO_POD = 'cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml';

t.test('a release as the agents need it', async (t) => {
  const podman = new FakePodman(results());
  const { render } = liveHostOf(t, podman);
  const rendered = await render();
  t.same(
    rendered.staticPods.map(({ component, role, file, container }) => [
      component,
      role,
      file,
      container,
    ]),
    [
      // Under the name of the operator's pod, which replaces it.
      ['etcd', 'database', 'etcd-pod.yaml', 'etcd'],
      [
        'machine-config-server',
        'ignition-server',
        'machineconfigoperator-bootstrap-pod.yaml',
        'machine-config-server',
      ],
      ['kube-apiserver', 'api-server', 'kube-apiserver-pod.yaml', 'kube-apiserver'],
      [
        'kube-controller-manager',
        'leader',
        'kube-controller-manager-pod.yaml',
        'kube-controller-manager',
      ],
      ['kube-scheduler', 'leader', 'kube-scheduler-pod.yaml', 'kube-scheduler'],
      ['cluster-version-operator', 'bootstrap', 'bootstrap-pod.yaml', 'cluster-version-operator'],
      ['cco', 'bootstrap', 'cloud-credential-operator-pod.yaml', 'cco'],
    ],
  );
  t.same(rendered.leases, [
    { namespace: 'openshift-cluster-version', name: 'version' },
    { namespace: 'kube-system', name: 'cluster-policy-controller-lock' },
    { namespace: 'kube-system', name: 'kube-controller-manager' },
    { namespace: 'openshift-kube-scheduler', name: 'kube-scheduler' },
  ]);
  t.equal(rendered.userManifests, 'included');
  t.same(
    rendered.manifests.map(({ name }) => name),
    [
      '0000_00_namespace.yaml',
      '0000_10_apiservers.crd.yaml',
      '99_feature-gate.yaml',
      '99_machineconfig.yaml',
      'cco.yaml',
      'cluster-config.yaml',
      'cluster-infrastructure-02-config.yml',
      'cluster-ingress-00.yaml',
      'cluster-network-02-config.yml',
      'csr-binding.yaml',
      'csr-signer.yaml',
      'etcd-signer.yaml',
      'kargs.yaml',
      'ns.yaml',
      'openshift-config-secret-pull-secret.yaml',
      'rolebindingrestrictions.yaml',
      'scc.yaml',
      // The agents' own rights on the installed host.
      '99_sno-agents-csr-approver.yaml',
      '99_sno-agents-installation-status.yaml',
    ],
  );
  t.match(
    rendered.manifests.find(({ name }) => name === '99_feature-gate.yaml')?.contents,
    /"status"/,
    'the completed one',
  );
});

t.test('files of the live and of the installed host, with the classes of their keys', async (t) => {
  const { render } = liveHostOf(t, new FakePodman(results()));
  const { files } = await render();
  const classes = (host: typeof liveHost) =>
    Object.fromEntries(
      neededBy(host, files).map(({ path, keyClass = '-', leftover }) => [
        path,
        leftover === undefined ? keyClass : `${keyClass}, deleted`,
      ]),
    );
  const [configs, secrets] = [
    '/etc/kubernetes/bootstrap-configs',
    '/etc/kubernetes/bootstrap-secrets',
  ];
  const member = '/etc/kubernetes/static-pod-resources/etcd-member';
  const both = {
    [`${configs}/kube-apiserver-config.yaml`]: '-, deleted',
    [`${configs}/kube-controller-manager-config.yaml`]: '-, deleted',
    [`${configs}/cluster-policy-controller-config.yaml`]: '-, deleted',
    [`${configs}/kube-scheduler-config.yaml`]: '-, deleted',
    [`${secrets}/etcd-ca-bundle.crt`]: '-, deleted',
    [`${secrets}/etcd-client.crt`]: '-, deleted',
    // In no manifest.
    [`${secrets}/etcd-client.key`]: 'gone, deleted',
    [`${secrets}/kube-apiserver-complete-client-ca-bundle.crt`]: '-, deleted',
    [`${secrets}/kubeconfig`]: 'gone, deleted',
    [`${secrets}/kubelet-signer.key`]: 'gone, deleted',
    [`${secrets}/machine-config-server.crt`]: '-, deleted',
    [`${secrets}/machine-config-server.key`]: 'gone, deleted',
    [`${secrets}/root-ca.crt`]: '-, deleted',
    [`${secrets}/service-account.key`]: 'gone, deleted',
    [`${member}/ca.crt`]: '-, deleted',
    // Also in the Secret of etcd's signer.
    [`${member}/etcd-all-certs/etcd-signer.key`]: 'adopted, deleted',
  };
  t.same(classes(installedHost), {
    ...both,
    '/etc/sno-agents/bootstrap-pods.json': '-, deleted',
  });
  t.same(classes(liveHost), {
    ...both,
    '/etc/crio/crio.conf.d/50-bootstrap-override.conf': '-',
    '/etc/kubernetes/kubeconfig': 'gone',
    '/etc/kubernetes/kubelet-live.yaml': '-',
    ...Object.fromEntries(
      [
        '0000_00_namespace.yaml',
        '0000_10_apiservers.crd.yaml',
        '99_feature-gate.yaml',
        '99_machineconfig.yaml',
        'cluster-config.yaml',
        'cluster-infrastructure-02-config.yml',
        'cluster-ingress-00.yaml',
        'cluster-network-02-config.yml',
        'controllerconfig.yaml',
        'csr-signer.yaml',
        'kargs.yaml',
        'ns.yaml',
        'openshift-config-secret-pull-secret.yaml',
        'rolebindingrestrictions.yaml',
        'scc.yaml',
      ].map((name) => [`/etc/mcc/bootstrap/${name}`, '-']),
    ),
    '/etc/mcc/bootstrap/etcd-signer.yaml': 'adopted',
    // Nodes join with it; the installed host has it from the machine-config server.
    '/etc/mcs/kubeconfig': 'permanent',
    '/etc/ssl/mcs/tls.crt': '-',
    '/etc/ssl/mcs/tls.key': 'gone',
  });
  const open = files.filter(({ mode }) => mode !== 0o600).map(({ path }) => path);
  t.same(open, [
    '/etc/kubernetes/kubelet-live.yaml',
    '/etc/crio/crio.conf.d/50-bootstrap-override.conf',
  ]);
  const contents = (path: string) => files.find((file) => file.path === path)?.contents ?? '';
  t.equal(
    contents('/etc/crio/crio.conf.d/50-bootstrap-override.conf'),
    `[crio.image]\npause_image = "${referenceOf('pod')}"\npause_command = "/usr/bin/pod"\n`,
  );
  t.same(parse(contents('/etc/kubernetes/kubelet-live.yaml')), {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    staticPodPath: '/etc/kubernetes/manifests',
    containerRuntimeEndpoint: 'unix:///var/run/crio/crio.sock',
    volumePluginDir: '/etc/kubernetes/kubelet-plugins/volume/exec',
    cgroupDriver: 'systemd',
    // It has no API server to ask, so it serves nothing; without a method it would not start.
    enableServer: false,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: {
        clientCAFile:
          '/etc/kubernetes/bootstrap-secrets/kube-apiserver-complete-client-ca-bundle.crt',
      },
    },
    authorization: { mode: 'AlwaysAllow' },
    serializeImagePulls: false,
    runtimeRequestTimeout: '10m',
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
  });
  const clientCa = parse(contents('/etc/kubernetes/kubelet-live.yaml')).authentication.x509;
  t.ok(contents(clientCa.clientCAFile), 'its authorities are rendered');
});

t.test('the kubelet does not measure an overlay', async (t) => {
  const { render } = liveHostOf(t, new FakePodman(results()), { rootIsOverlay: true });
  const { files } = await render();
  const config = files.find(({ path }) => path === '/etc/kubernetes/kubelet-live.yaml');
  t.match(parse(config?.contents ?? ''), { localStorageCapacityIsolation: false });
});

t.test('folders', async (t) => {
  const { render } = liveHostOf(t, new FakePodman(results()));
  const { directories } = await render();
  const modes = new Map(directories.map(({ path, mode }) => [path, mode.toString(8)]));
  for (const [path, mode] of [
    ['/etc/kubernetes', '755'],
    ['/etc/kubernetes/manifests', '700'],
    ['/etc/kubernetes/bootstrap-secrets', '700'],
    ['/etc/kubernetes/bootstrap-configs', '700'],
    ['/etc/kubernetes/static-pod-resources/etcd-member/etcd-all-certs', '700'],
    ['/etc/mcs', '700'],
    ['/etc/mcs/bootstrap', '700'],
    ['/etc/mcc', '700'],
    ['/etc/mcc/bootstrap', '700'],
    ['/etc/ssl/mcs', '700'],
    ['/etc/kubernetes/cloud', '755'],
    ['/var/log/bootstrap-control-plane', '700'],
    ['/var/lib/etcd', '700'],
    ['/var/log/kube-apiserver', '700'],
  ] as const) {
    t.equal(modes.get(path), mode, path);
  }
  const pathsOf = (host: typeof liveHost) =>
    neededBy(host, directories)
      .map(({ path }) => path)
      .toSorted();
  const both = [
    '/etc/kubernetes',
    '/etc/kubernetes/bootstrap-configs',
    '/etc/kubernetes/bootstrap-secrets',
    '/etc/kubernetes/cloud',
    '/etc/kubernetes/manifests',
    '/etc/kubernetes/static-pod-resources',
    '/etc/kubernetes/static-pod-resources/etcd-member',
    '/etc/kubernetes/static-pod-resources/etcd-member/etcd-all-certs',
    '/var/log/bootstrap-control-plane',
    '/var/log/kube-apiserver',
  ];
  // Restoring a snapshot makes /var/lib/etcd there.
  t.same(pathsOf(installedHost), both);
  const live = ['/etc/mcc', '/etc/mcc/bootstrap', '/etc/mcs', '/etc/mcs/bootstrap', '/etc/ssl/mcs'];
  t.same([...new Set(pathsOf(liveHost))], [...both, ...live, '/var/lib/etcd'].toSorted());
});

t.test('what two stages render is applied once, as the first file has it', async (t) => {
  const object = (name: string, version = 'v1') =>
    `apiVersion: e.com/${version}\nkind: CRD\nmetadata:\n  name: ${name}\n`;
  const files = results();
  const stage = 'cco-bootstrap';
  files[stage] = {
    ...files[stage],
    [`${stage}/manifests/aa.yaml`]: object('a'),
    [`${stage}/manifests/bb-again.yaml`]: object('a', 'v2'),
    [`${stage}/manifests/bb-both.yaml`]: `${object('a')}---\n${object('b')}`,
    [`${stage}/manifests/bb-broken.yaml`]: `${object('a')}---\nkind: [\n`,
    [`${stage}/manifests/bb-broken2.yaml`]: 'kind: [\n',
  };
  const { manifests } = await liveHostOf(t, new FakePodman(files)).render();
  const names = manifests.map(({ name }) => name).filter((name) => /^(aa|bb)/.test(name));
  t.same(names, ['aa.yaml', 'bb-both.yaml', 'bb-broken.yaml', 'bb-broken2.yaml']);
});

t.test('load balancers and name servers of a platform run on the live host', async (t) => {
  const platforms = ['aws', 'baremetal', 'gcp', 'nutanix', 'openstack', 'ovirt', 'vsphere'];
  const files = results();
  const own = platforms.map((platform) => [
    [
      `mco-bootstrap/${platform}/manifests/${platform}.yaml`,
      files['cco-bootstrap']?.[CCO_POD] ?? '',
    ],
    [`mco-bootstrap/${platform}/static-pod-resources/${platform}/conf`, platform],
  ]);
  files['mco-bootstrap'] = { ...files['mco-bootstrap'], ...Object.fromEntries(own.flat()) };
  const rendered = await liveHostOf(t, new FakePodman(files)).render();
  const pods = rendered.staticPods.filter(({ file }) =>
    platforms.includes(file.split('.')[0] ?? ''),
  );
  t.same(
    pods.map(({ file, role }) => [file, role]),
    platforms.map((platform) => [`${platform}.yaml`, 'bootstrap']),
  );
  const folder = '/etc/kubernetes/static-pod-resources';
  for (const platform of platforms) {
    const conf = rendered.files.find(({ path }) => path === `${folder}/${platform}/conf`);
    t.same(conf?.uses, ['standalone-kubelet'], platform);
    t.equal(conf?.leftover, undefined);
  }
});

t.test('the scheduler’s Lease is the one that its configuration names', async (t) => {
  for (const [config, lease] of [
    ['kind: X\n', { namespace: 'kube-system', name: 'kube-scheduler' }],
    ['leaderElection: {}\n', { namespace: 'kube-system', name: 'kube-scheduler' }],
    ['leaderElection: {resourceNamespace: a, resourceName: b}\n', { namespace: 'a', name: 'b' }],
  ] as const) {
    const files = results();
    const stage = 'kube-scheduler-bootstrap';
    files[stage] = { ...files[stage], [`${stage}/config`]: config };
    const { leases } = await liveHostOf(t, new FakePodman(files)).render();
    t.same(leases.at(-1), lease, config);
  }
});
