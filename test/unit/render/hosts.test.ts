import t from 'tap';
import { type HostNeeds, installedHost, liveHost, neededBy } from '../../../lib/render/hosts.ts';
import { rendered } from './rendered-host.ts';

/** A host without a pivot: it keeps the control plane that it starts, and is the node. */
const allInOne: HostNeeds = ['control-plane', 'new-database', 'bootstrap', 'csr-approval', 'node'];

const agents = (...names: string[]) => names.map((name) => `/etc/sno-agents/${name}`);
const etcdAccess = agents('etcd-ca.crt', 'etcd-client.crt', 'etcd-client.key');
const deferred = agents('deferred.crt', 'deferred.key', 'deferred.kubeconfig');
const standalone = ['/etc/kubernetes/kubelet-live.yaml'];
const node = [
  '/etc/cni/net.d/10-sno.conflist',
  '/etc/kubernetes/kubelet.yaml',
  '/etc/kubernetes/pki/kubelet/api-ca.crt',
  '/var/lib/kubelet/kubeconfig',
];

const HOSTS: readonly {
  name: string;
  needs: HostNeeds;
  /** Of the files that not every one of these hosts has. */
  files: readonly string[];
  directories: readonly string[];
}[] = [
  {
    name: 'the live host',
    needs: liveHost,
    files: [...etcdAccess, ...standalone],
    directories: ['/var/lib/etcd'],
  },
  {
    name: 'the installed host',
    needs: installedHost,
    files: [...node, ...deferred],
    // The snapshot is restored to /var/lib/etcd: an empty one must not exist there.
    directories: ['/var/lib/kubelet'],
  },
  {
    name: 'a host without a pivot',
    needs: allInOne,
    files: node,
    directories: ['/var/lib/etcd', '/var/lib/kubelet'],
  },
];

const paths = (all: readonly { path: string }[]) => all.map(({ path }) => path);
const onlySome = [...etcdAccess, ...standalone, ...node, ...deferred];
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

t.test('a worker has neither control plane nor authority, nor a key of the agents', async (t) => {
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
