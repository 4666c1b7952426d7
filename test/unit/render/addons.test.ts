import t from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { kubernetesRenderer } from '../../../lib/render/kubernetes/index.ts';
import {
  everyAddOn,
  inputWith,
  objectOf,
  objectsOf,
  podSpecSchema,
  withAddOns,
} from './addon-objects.ts';
import { input, rendered } from './rendered-host.ts';

const onNode = ['/etc/modules-load.d/sno-services.conf', '/var/lib/local-path-provisioner'];
const pathsOf = ({ files, directories }: typeof rendered) =>
  [...files, ...directories].map(({ path }) => path);

t.test('a payload without add-ons: nothing of them is rendered', async (t) => {
  t.same(
    rendered.manifests.filter(({ name }) => name.startsWith('20-')),
    [],
  );
  t.same(
    pathsOf(rendered).filter((path) => onNode.includes(path)),
    [],
  );
});

for (const [name, expected] of [
  ['kube-proxy', onNode.slice(0, 1)],
  ['coredns', []],
  ['local-path-provisioner', onNode.slice(1)],
  ['flannel', []],
] as const) {
  t.test(`a payload with ${name} alone`, async (t) => {
    const one = await kubernetesRenderer.render(inputWith([name]));
    t.same(
      one.manifests.slice(rendered.manifests.length).map((manifest) => manifest.name),
      [`20-${name}.yaml`],
      'after the rights',
    );
    t.same(
      pathsOf(one).filter((path) => !pathsOf(rendered).includes(path)),
      expected,
    );
  });
}

t.test('the host: bridged traffic is tracked, and only root reaches volumes', async (t) => {
  t.match(
    withAddOns.files.find(({ path }) => path === onNode[0]),
    {
      contents: 'br_netfilter\n',
      mode: 0o644,
      uses: ['node'],
    },
  );
  t.match(
    withAddOns.directories.find(({ path }) => path === onNode[1]),
    {
      mode: 0o700,
      uses: ['node'],
    },
  );
});

t.test('objects of a namespace exist in it before pods do', async (t) => {
  for (const addOn of ['kube-proxy', 'coredns', 'local-path-provisioner', 'flannel']) {
    const objects = objectsOf(withAddOns, addOn);
    const namespaces = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
    t.same(
      [...namespaces],
      [addOn === 'local-path-provisioner' ? 'local-path-storage' : 'kube-system'],
    );
  }
  t.same(objectOf('local-path-provisioner', 'Namespace').metadata, {
    name: 'local-path-storage',
    // Helper pods mount a folder of the host, which the baseline forbids.
    labels: { 'pod-security.kubernetes.io/enforce': 'privileged' },
  });
});

t.test('kube-proxy: nftables, the API on loopback, no sysctl', async (t) => {
  const { data } = objectOf('kube-proxy', 'ConfigMap');
  t.same(parse(data?.['config.yaml'] ?? ''), {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: '/var/lib/kube-proxy/kubeconfig.yaml' },
    detectLocalMode: 'ClusterCIDR',
    clusterCIDR: '10.128.0.0/14',
    // Not "primary": it would not notice a new address of the node.
    nodePortAddresses: ['192.0.2.0/24'],
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
    // A value other than 0 is written to /proc/sys, which a container without privileges cannot.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  });
  const token = '/var/run/secrets/kubernetes.io/serviceaccount';
  t.match(parse(data?.['kubeconfig.yaml'] ?? ''), {
    clusters: [
      // A name or a Service address needs what kube-proxy itself provides.
      {
        cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority': `${token}/ca.crt` },
      },
    ],
    users: [{ user: { tokenFile: `${token}/token` } }],
  });
});

t.test('kube-proxy and node ports of both families', async (t) => {
  const base = {
    ...input,
    cluster: {
      ...input.cluster,
      machineNetwork: ['192.0.2.0/24', '2001:db8::/64'],
      clusterNetwork: [
        { cidr: '10.128.0.0/14', hostPrefix: 23 },
        { cidr: 'fd01::/48', hostPrefix: 64 },
      ],
    },
  };
  const both = await kubernetesRenderer.render(inputWith(['kube-proxy'], base));
  t.match(parse(objectOf('kube-proxy', 'ConfigMap', both).data?.['config.yaml'] ?? ''), {
    clusterCIDR: '10.128.0.0/14,fd01::/48',
    nodePortAddresses: ['192.0.2.0/24', '2001:db8::/64'],
  });
  const shipped = { ...base, cluster: { ...base.cluster, relocatable: true as const } };
  const anywhere = await kubernetesRenderer.render(inputWith(['kube-proxy'], shipped));
  t.match(parse(objectOf('kube-proxy', 'ConfigMap', anywhere).data?.['config.yaml'] ?? ''), {
    nodePortAddresses: ['0.0.0.0/0', '::/0'],
  });
});

const serviceSchema = z.looseObject({
  clusterIP: z.string(),
  ipFamilyPolicy: z.string(),
  ports: z.array(z.looseObject({ port: z.number(), targetPort: z.number(), protocol: z.string() })),
});

for (const serviceNetwork of [['172.30.0.0/16'], ['fd02::/112', '172.30.0.0/16']]) {
  t.test(`CoreDNS is at the address that the kubelet names: ${serviceNetwork[0]}`, async (t) => {
    const base = { ...everyAddOn, cluster: { ...everyAddOn.cluster, serviceNetwork } };
    const all = await kubernetesRenderer.render(base);
    const { clusterIP, ipFamilyPolicy } = serviceSchema.parse(
      objectOf('coredns', 'Service', all).spec,
    );
    const kubelet = all.files.find(({ path }) => path === '/etc/kubernetes/kubelet.yaml');
    t.same(parse(kubelet?.contents ?? '').clusterDNS, [clusterIP]);
    t.equal(ipFamilyPolicy, 'SingleStack');
  });
}

t.test('CoreDNS answers cluster names, without a loop and without a name server', async (t) => {
  const corefile = objectOf('coredns', 'ConfigMap').data?.Corefile ?? '';
  const [, listens] = /^\.:(\d+) \{$/m.exec(corefile) ?? [];
  // A query to a resolver on loopback (port 53) must not reach CoreDNS itself.
  t.not(listens, '53');
  // Empty with a host without name servers: "forward" without any is fatal.
  t.match(corefile, /^ +forward \. \/etc\/resolv\.conf 127\.0\.0\.1 \{\n +policy sequential$/m);
  t.match(corefile, /^ +kubernetes cluster\.local in-addr\.arpa ip6\.arpa \{$/m);
  const { ports } = serviceSchema.parse(objectOf('coredns', 'Service').spec);
  t.match(ports, [
    { port: 53, targetPort: Number(listens), protocol: 'UDP' },
    { port: 53, targetPort: Number(listens), protocol: 'TCP' },
    { port: 9153, targetPort: 9153, protocol: 'TCP' },
  ]);
  const { containers, dnsPolicy } = podOf('coredns', 'Deployment');
  t.equal(dnsPolicy, 'Default', "the host's name servers");
  t.match(containers[0], { args: ['-conf', '/etc/coredns/Corefile'] });
  t.notMatch(containers[0], { command: [] }, 'images have the program in different folders');
});

function podOf(addOn: string, kind: string) {
  const { template } = z
    .looseObject({ template: z.looseObject({ spec: podSpecSchema }) })
    .parse(objectOf(addOn, kind).spec);
  return template.spec;
}

t.test('the default StorageClass, and helper pods of the same image', async (t) => {
  const { metadata, provisioner, volumeBindingMode, reclaimPolicy } = objectOf(
    'local-path-provisioner',
    'StorageClass',
  );
  t.same(
    { metadata, provisioner, volumeBindingMode, reclaimPolicy },
    {
      metadata: {
        name: 'local-path',
        annotations: {
          'storageclass.kubernetes.io/is-default-class': 'true',
          // A hostPath volume gets neither a group nor an SELinux label.
          defaultVolumeType: 'local',
        },
      },
      provisioner: 'rancher.io/local-path',
      volumeBindingMode: 'WaitForFirstConsumer',
      reclaimPolicy: 'Delete',
    },
  );
  const { data = {} } = objectOf('local-path-provisioner', 'ConfigMap');
  t.same(JSON.parse(data['config.json'] ?? ''), {
    nodePathMap: [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [onNode[1]] }],
  });
  const helper = z.looseObject({ spec: podSpecSchema }).parse(parse(data['helperPod.yaml'] ?? ''));
  t.equal(helper.spec.containers[0].image, 'example.test/local-path-provisioner:1');
  t.equal(helper.spec.automountServiceAccountToken, false);
  t.match(data.setup, /^mkdir -m 0777 -p "\$VOL_DIR"$/m);
  t.match(data.teardown, /^rm -rf "\$VOL_DIR"$/m);
});

const probeSchema = z.looseObject({
  httpGet: z.looseObject({ path: z.string(), port: z.number() }),
});
const workloadSchema = z.looseObject({
  template: z.looseObject({
    spec: z.looseObject({
      tolerations: z.array(z.looseObject({ operator: z.string(), key: z.string().optional() })),
      containers: z.tuple([
        z.looseObject({
          livenessProbe: probeSchema.optional(),
          readinessProbe: probeSchema.optional(),
        }),
      ]),
    }),
  }),
});

t.test('when a pod is placed, ready and replaced', async (t) => {
  const roles = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];
  for (const [name, kind, tolerated, live, ready, replaced] of [
    // On a node that is not Ready, too: nothing else works before it runs.
    ['kube-proxy', 'DaemonSet', [undefined], '/livez:10256', '/healthz:10256', {}],
    // Readiness waits for the objects of the API; a restart would not bring them sooner.
    [
      'coredns',
      'Deployment',
      roles,
      '/health:8080',
      '/ready:8181',
      { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } },
    ],
    // Two of them would both create the volume of a claim.
    ['local-path-provisioner', 'Deployment', roles, '', '', { strategy: { type: 'Recreate' } }],
  ] as const) {
    const object = objectOf(name, kind).spec;
    const { tolerations, containers } = workloadSchema.parse(object).template.spec;
    t.same(
      tolerations.map(({ key }) => key),
      tolerated,
      name,
    );
    const [{ livenessProbe, readinessProbe }] = containers;
    const text = (probe: z.infer<typeof probeSchema> | undefined) =>
      probe === undefined ? '' : `${probe.httpGet.path}:${probe.httpGet.port}`;
    t.same([text(livenessProbe), text(readinessProbe)], [live, ready], name);
    t.match(object, replaced, name);
  }
});
