/** Contents of every bundle, whatever works on its host; `folder` is the host's own. */
const always = (folder: string) => [
  'gather.log',
  'gather.json',
  `${folder}/journals/kubelet.log`,
  `${folder}/journals/containerd.log`,
  `${folder}/journals/journal.log.gz`,
  `${folder}/systemd/units.json`,
  `${folder}/network/ip-addr.txt`,
  `${folder}/network/resolv.conf`,
  `${folder}/network/dns.json`,
  `${folder}/disks/df.json`,
  `${folder}/proc/meminfo.txt`,
  `${folder}/certificates/certificates.json`,
  `${folder}/static-pods/hashes.txt`,
];

/** On the live host the control plane runs for seconds: whole logs may be deleted before they are read. */
const ofContainers = (folder: string) => [
  `${folder}/containers/containers.json`,
  `${folder}/containers/kube-apiserver-*.inspect`,
  `${folder}/containers/tails/kube-apiserver-*.log`,
  `${folder}/containers/tails/etcd-*.log`,
];

const ofEtcd = (folder: string) => [
  `${folder}/etcd/endpoint-status.json`,
  `${folder}/etcd/member-list.json`,
  `${folder}/etcd/metrics.txt`,
];

const ofApi = ['nodes', 'pods', 'events', 'csr', 'configmaps', 'services'].map(
  (name) => `resources/${name}.json`,
);

/** By what works on the host; the installed host's folder is named as the installer names it. */
export const layout = {
  live: {
    always: [
      ...always('bootstrap'),
      'bootstrap/services/bootkube.json',
      'bootstrap/steps/bootkube.jsonl',
      'bootstrap/journals/bootkube.log',
    ],
    containers: ofContainers('bootstrap'),
    etcd: ofEtcd('bootstrap'),
    api: ofApi,
  },
  installed: {
    always: [...always('control-plane/master'), 'control-plane/master/static-pods/etcd-pod.yaml'],
    containers: [
      ...ofContainers('control-plane/master'),
      'control-plane/master/containers/kube-apiserver-*.log',
      'control-plane/master/containers/etcd-*.log',
    ],
    etcd: ofEtcd('control-plane/master'),
    api: [...ofApi, 'resources/secrets-names.txt'],
  },
  /** From the live stage; on the installed host until the clean-up. */
  earlier: [
    'log-bundle-bootstrap/bootstrap/services/bootkube.json',
    'log-bundle-bootstrap/bootstrap/steps/bootkube.jsonl',
    'log-bundle-bootstrap/bootstrap/journals/bootkube.log',
    'log-bundle-bootstrap/resources/nodes.json',
    'log-bundle-bootstrap/resources/configmaps.json',
  ],
} as const;
