import t from 'tap';
import {
  aioHost,
  FILE_USES,
  type FileUse,
  type HostNeeds,
  installedHost,
  liveHost,
  neededBy,
} from '../../../lib/render/hosts.ts';
import { rendered } from './rendered-host.ts';

const agents = (...names: string[]) => names.map((name) => `/etc/sno-agents/${name}`);
const etcdAccess = agents('etcd-ca.crt', 'etcd-client.crt', 'etcd-client.key');
const deferred = agents('deferred.crt', 'deferred.key', 'deferred.kubeconfig');
const administrator = agents(
  'bootstrap-admin.crt',
  'bootstrap-admin.key',
  'bootstrap-admin.kubeconfig',
);
const watching = agents('csr-approver.crt', 'csr-approver.key', 'csr-approver.kubeconfig');
const standalone = ['/etc/kubernetes/kubelet-live.yaml'];
const node = [
  '/etc/cni/net.d/10-sno.conflist',
  '/etc/kubernetes/kubelet.yaml',
  '/etc/kubernetes/pki/kubelet/api-ca.crt',
  '/etc/sno-agents/pod-egress.nft',
  '/var/lib/kubelet/kubeconfig',
];

const HOSTS: readonly {
  name: string;
  needs: HostNeeds;
  /** Without the files common to all of these hosts. */
  files: readonly string[];
  directories: readonly string[];
}[] = [
  {
    name: 'the live host',
    needs: liveHost,
    files: [...etcdAccess, ...watching, ...standalone, ...administrator],
    directories: ['/var/lib/etcd'],
  },
  {
    name: 'the installed host',
    needs: installedHost,
    files: [...node, ...deferred, ...administrator],
    // The snapshot is restored to /var/lib/etcd: an empty one must not exist there.
    directories: ['/var/lib/kubelet'],
  },
  {
    // No key ends with its installation.
    name: 'an all-in-one host',
    needs: aioHost,
    files: [...node, ...deferred],
    directories: ['/var/lib/etcd', '/var/lib/kubelet'],
  },
];

const paths = (all: readonly { path: string }[]) => all.map(({ path }) => path);
const onlySome = [
  ...etcdAccess,
  ...watching,
  ...standalone,
  ...node,
  ...deferred,
  ...administrator,
];
const someFolders = ['/var/lib/etcd', '/var/lib/kubelet'];

for (const { name, needs, files, directories } of HOSTS) {
  t.test(`${name} gets exactly what it needs`, async (t) => {
    const every = paths(rendered.files).filter((path) => !onlySome.includes(path));
    t.ok(every.length > 40);
    t.same(paths(neededBy(needs, rendered.files)).toSorted(), [...every, ...files].toSorted());
    const everyFolder = paths(rendered.directories).filter((path) => !someFolders.includes(path));
    t.same(
      paths(neededBy(needs, rendered.directories)).toSorted(),
      [...everyFolder, ...directories].toSorted(),
    );
  });
}

const pki = (...names: string[]) => names.map((name) => `/etc/kubernetes/pki/${name}`);
const pair = (path: string) => [`${path}.crt`, `${path}.key`];
const apiTrust = agents('api-ca.crt');

/** The additional files and folders of each need, sorted by path. */
const BY_USE: Readonly<
  Record<Exclude<FileUse, 'control-plane'>, { files: string[]; directories: string[] }>
> = {
  // etcd creates its database there.
  'new-database': { files: [], directories: ['/var/lib/etcd'] },
  'etcd-access': { files: etcdAccess, directories: ['/etc/sno-agents'] },
  bootstrap: {
    files: [...apiTrust, ...administrator],
    directories: ['/etc/sno-agents'],
  },
  'csr-approval': {
    files: [...apiTrust, ...watching],
    directories: ['/etc/sno-agents'],
  },
  'deferred-manifests': { files: [...apiTrust, ...deferred], directories: ['/etc/sno-agents'] },
  'standalone-kubelet': {
    files: [...standalone, ...pki('kubelet/client-ca.crt')],
    directories: [
      ...['/etc/kubernetes', '/etc/kubernetes/manifests', '/etc/kubernetes/pki'],
      '/etc/kubernetes/pki/kubelet',
    ],
  },
  node: {
    files: [...node.slice(0, 3), ...pki('kubelet/client-ca.crt'), ...node.slice(3)],
    directories: [
      ...['/etc/kubernetes', '/etc/kubernetes/manifests', '/etc/kubernetes/pki'],
      ...['/etc/kubernetes/pki/kubelet', '/etc/sno-agents', '/var/lib/kubelet'],
    ],
  },
};

for (const [use, expected] of Object.entries(BY_USE)) {
  t.test(`a host that only needs ${use}`, async (t) => {
    const needs = FILE_USES.filter((each) => each === use);
    t.same(
      {
        files: paths(neededBy(needs, rendered.files)).toSorted(),
        directories: paths(neededBy(needs, rendered.directories)).toSorted(),
      },
      expected,
    );
  });
}

t.test('a control plane needs its authorities, leaves and configuration', async (t) => {
  const authorities = ['admin', 'etcd', 'front-proxy', 'kubelet-client', 'kubelet-serving'];
  const components = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
  t.same(
    paths(neededBy(['control-plane'], rendered.files)).toSorted(),
    [
      ...[...authorities, 'legacy-unknown', 'serving'].flatMap((name) =>
        pair(`/etc/kubernetes/pki/ca/${name}/ca`),
      ),
      // Without a key.
      '/etc/kubernetes/pki/ca/laptop-admin/ca.crt',
      ...pki('etcd/ca.crt', 'etcd/server.crt', 'etcd/server.key', 'etcd/peer.crt', 'etcd/peer.key'),
      ...['serving', 'etcd-client', 'kubelet-client', 'front-proxy-client'].flatMap((name) =>
        pair(`/etc/kubernetes/pki/kube-apiserver/${name}`),
      ),
      ...pki('kube-apiserver/etcd-ca.crt', 'kube-apiserver/kubelet-serving-ca.crt'),
      ...components.flatMap((name) => pki(`${name}/client-ca.crt`, `${name}/front-proxy-ca.crt`)),
      ...components
        .slice(1)
        .flatMap((name) => [
          ...pki(`${name}/api-ca.crt`, `${name}/client.crt`, `${name}/client.key`),
          `/etc/kubernetes/${name}/kubeconfig`,
        ]),
      ...pki('service-account/service-account.key', 'service-account/service-account.pub'),
      ...['admission', 'audit-policy', 'authentication', 'encryption'].map(
        (name) => `/etc/kubernetes/kube-apiserver/${name}.yaml`,
      ),
      '/etc/kubernetes/kube-scheduler/config.yaml',
    ].toSorted(),
  );
});

t.test('only root can access the folders, except /etc/kubernetes', async (t) => {
  const open = rendered.directories.filter(({ mode }) => mode !== 0o700);
  t.same(
    open.map(({ path, mode }) => [path, mode]),
    [['/etc/kubernetes', 0o755]],
  );
  t.same(
    paths(neededBy(['control-plane'], rendered.directories)).toSorted(),
    [
      ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].flatMap((name) => [
        `/etc/kubernetes/${name}`,
        ...pki(name),
      ]),
      ...['/etc/kubernetes/pki', '/var/log/kube-apiserver'],
      ...pki('ca', 'ca/admin', 'ca/etcd', 'ca/front-proxy', 'ca/kubelet-client'),
      ...pki('ca/kubelet-serving', 'ca/laptop-admin', 'ca/legacy-unknown', 'ca/serving'),
      ...pki('etcd', 'service-account'),
    ].toSorted(),
  );
});

t.test('a worker gets no control plane, no authority and no key of the agents', async (t) => {
  const files = neededBy(['node'], rendered.files);
  t.same(
    paths(files).toSorted(),
    [...node, '/etc/kubernetes/pki/kubelet/client-ca.crt'].toSorted(),
  );
  t.same(
    files.filter(({ keyClass }) => keyClass !== undefined),
    [],
  );
});

t.test('components start in the order of their roles, leaders last', async (t) => {
  t.same(
    rendered.staticPods.map(({ component, role }) => [component, role]),
    [
      ['etcd', 'database'],
      ['kube-apiserver', 'api-server'],
      ['kube-controller-manager', 'leader'],
      ['kube-scheduler', 'leader'],
    ],
  );
  t.same(rendered.leases, [
    { namespace: 'kube-system', name: 'kube-controller-manager' },
    { namespace: 'kube-system', name: 'kube-scheduler' },
  ]);
});
