/** A flag without its dashes, its value, and the effect of its absence. */
type Row = readonly [flag: string, value: string, reason: string];

const pki = (component: string) => `/etc/kubernetes/pki/${component}`;
const config = (component: string) => `/etc/kubernetes/${component}`;

const etcd: readonly Row[] = [
  ['name', 'etcd', 'a snapshot is restored under this name'],
  ['data-dir', '/var/lib/etcd', 'the one folder that the pod may write'],
  ['initial-cluster', 'etcd=https://127.0.0.1:2380', 'one member, independent of name and address'],
  ['initial-cluster-state', 'new', 'the first start makes a cluster'],
  ['initial-cluster-token', 'sno-etcd', 'a snapshot is restored under this token'],
  ['initial-advertise-peer-urls', 'https://127.0.0.1:2380', 'as the initial cluster says'],
  ['listen-peer-urls', 'https://127.0.0.1:2380', 'loopback alone'],
  ['advertise-client-urls', 'https://127.0.0.1:2379', 'etcd refuses listening URLs without it'],
  ['listen-client-urls', 'https://127.0.0.1:2379', 'loopback alone'],
  ['listen-metrics-urls', 'http://127.0.0.1:2381', 'probes have no certificate; loopback alone'],
  ['cert-file', `${pki('etcd')}/server.crt`, 'TLS'],
  ['key-file', `${pki('etcd')}/server.key`, 'TLS'],
  ['trusted-ca-file', `${pki('etcd')}/ca.crt`, 'clients of its own authority'],
  ['client-cert-auth', 'true', 'etcd takes it from the trusted authority, too; said outright'],
  ['peer-cert-file', `${pki('etcd')}/peer.crt`, 'TLS between members'],
  ['peer-key-file', `${pki('etcd')}/peer.key`, 'TLS between members'],
  ['peer-trusted-ca-file', `${pki('etcd')}/ca.crt`, 'members of its own authority'],
  ['peer-client-cert-auth', 'true', 'a peer may write everything'],
  ['tls-min-version', 'TLS1.2', 'a floor that does not change with the version of Go'],
  ['enable-grpc-gateway', 'false', 'no second door to the same data'],
  ['quota-backend-bytes', '8589934592', 'at the default of 2 GiB a full cluster stops'],
  ['watch-progress-notify-interval', '5s', "the watch cache's consistent reads"],
];

const apiPki = pki('kube-apiserver');
const apiServer: readonly Row[] = [
  ['secure-port', '6443', 'where every client looks for it'],
  ['advertise-address', '192.0.2.10', "the node's, of the primary family"],
  ['tls-cert-file', `${apiPki}/serving.crt`, 'else it makes one that nobody trusts'],
  ['tls-private-key-file', `${apiPki}/serving.key`, 'as above'],
  ['tls-min-version', 'VersionTLS12', 'a floor that does not change with the version of Go'],
  ['client-ca-file', `${apiPki}/client-ca.crt`, 'nodes and administrators'],
  [
    'authentication-config',
    `${config('kube-apiserver')}/authentication.yaml`,
    'nobody is anonymous',
  ],
  [
    'authorization-mode',
    'Node,RBAC',
    'a node reads what is its own; the default allows everything',
  ],
  [
    'enable-admission-plugins',
    'NodeRestriction,DenyServiceExternalIPs',
    'a node writes what is its own; no Service takes the traffic to an address outside',
  ],
  [
    'admission-control-config-file',
    `${config('kube-apiserver')}/admission.yaml`,
    'without it, a namespace without a label allows privileged pods',
  ],
  [
    'enable-bootstrap-token-auth',
    'true',
    'a worker requests its first certificate with a token; there is none by default',
  ],
  ['allow-privileged', 'true', 'network plugins need it; admission decides by namespace'],
  ['profiling', 'false', 'memory holds every Secret'],
  ['etcd-servers', 'https://127.0.0.1:2379', 'the one member'],
  ['etcd-cafile', `${apiPki}/etcd-ca.crt`, 'etcd is verified'],
  ['etcd-certfile', `${apiPki}/etcd-client.crt`, 'etcd wants a client of its authority'],
  ['etcd-keyfile', `${apiPki}/etcd-client.key`, 'as above'],
  [
    'encryption-provider-config',
    `${config('kube-apiserver')}/encryption.yaml`,
    'Secrets are ciphertext in etcd and in every snapshot',
  ],
  ['event-ttl', '3h', 'the default of 1h has lost the evening by the morning'],
  ['kubelet-certificate-authority', `${apiPki}/kubelet-serving-ca.crt`, 'kubelets are verified'],
  ['kubelet-client-certificate', `${apiPki}/kubelet-client.crt`, 'kubelets want to know who asks'],
  ['kubelet-client-key', `${apiPki}/kubelet-client.key`, 'as above'],
  ['kubelet-preferred-address-types', 'InternalIP,Hostname', 'no external name or DNS in between'],
  ['proxy-client-cert-file', `${apiPki}/front-proxy-client.crt`, 'aggregated APIs know the proxy'],
  ['proxy-client-key-file', `${apiPki}/front-proxy-client.key`, 'as above'],
  ['requestheader-client-ca-file', `${apiPki}/front-proxy-ca.crt`, 'no client authority may proxy'],
  ['requestheader-allowed-names', 'front-proxy-client', 'empty means any name of that authority'],
  ['requestheader-username-headers', 'X-Remote-User', 'published to aggregated APIs'],
  ['requestheader-group-headers', 'X-Remote-Group', 'published to aggregated APIs'],
  ['requestheader-extra-headers-prefix', 'X-Remote-Extra-', 'published to aggregated APIs'],
  ['enable-aggregator-routing', 'true', 'the payload has no kube-proxy to route Service addresses'],
  ['service-account-issuer', 'https://kubernetes.default.svc', 'who signed a token'],
  [
    'service-account-key-file',
    `${pki('service-account')}/service-account.pub`,
    'verifies tokens, also after a rotation of the signer',
  ],
  [
    'service-account-signing-key-file',
    `${pki('service-account')}/service-account.key`,
    'signs the tokens of pods',
  ],
  [
    'service-account-extend-token-expiration',
    'false',
    'the default extends the token of a pod from an hour to a year',
  ],
  ['service-cluster-ip-range', '172.30.0.0/16', 'networking.serviceNetwork'],
  [
    'audit-policy-file',
    `${config('kube-apiserver')}/audit-policy.yaml`,
    'without it: no audit log',
  ],
  ['audit-log-path', '/var/log/kube-apiserver/audit.log', 'without it: no audit log'],
  ['audit-log-maxsize', '100', 'MB: the disk is shared with etcd'],
  ['audit-log-maxbackup', '5', 'the default keeps every file'],
  ['audit-log-maxage', '30', 'days; the default keeps every file'],
  ['shutdown-send-retry-after', 'true', 'clients come again in place of an error'],
  ['shutdown-watch-termination-grace-period', '5s', 'watches end in order'],
];

const leaderElection: readonly Row[] = [
  ['leader-elect', 'true', 'acquiring the Lease is how it waits for a late API'],
  ['leader-elect-lease-duration', '60s', 'longer than the renewal deadline'],
  ['leader-elect-renew-deadline', '45s', 'it outlives a restart of the API server'],
  ['leader-elect-retry-period', '3s', 'how soon it goes on after one'],
];

/** Flags that protect the ports of a controller-manager or scheduler. */
function guarded(component: string, port: string): readonly Row[] {
  const kubeconfig = `${config(component)}/kubeconfig`;
  return [
    ['bind-address', '127.0.0.1', 'the default is every address'],
    ['secure-port', port, 'where its probes look'],
    ['tls-min-version', 'VersionTLS12', 'a floor that does not change with the version of Go'],
    ['authentication-kubeconfig', kubeconfig, 'tokens are reviewed by the API server'],
    [
      'authorization-kubeconfig',
      kubeconfig,
      'so are rights; else nobody but system:masters gets in',
    ],
    ['authentication-skip-lookup', 'true', 'the API may come later'],
    ['client-ca-file', `${pki(component)}/client-ca.crt`, 'in place of the lookup'],
    ['requestheader-client-ca-file', `${pki(component)}/front-proxy-ca.crt`, 'as above'],
    ['requestheader-allowed-names', 'front-proxy-client', 'empty means any name'],
  ];
}

const signer = (name: string, authority: string): readonly Row[] => [
  [`cluster-signing-${name}-cert-file`, `${pki('ca')}/${authority}/ca.crt`, 'its own authority'],
  [`cluster-signing-${name}-key-file`, `${pki('ca')}/${authority}/ca.key`, 'its own authority'],
];

const controllerManager: readonly Row[] = [
  ...guarded('kube-controller-manager', '10257'),
  ['kubeconfig', `${config('kube-controller-manager')}/kubeconfig`, 'the API on loopback'],
  ['profiling', 'false', 'memory holds the signing keys'],
  ...leaderElection,
  [
    'controllers',
    '*,tokencleaner',
    'expired bootstrap tokens are deleted; the default has every other controller',
  ],
  ['use-service-account-credentials', 'true', 'no controller has the rights of all'],
  [
    'service-account-private-key-file',
    `${pki('service-account')}/service-account.key`,
    'tokens in Secrets, for who asks for one',
  ],
  ['root-ca-file', `${pki('kube-controller-manager')}/api-ca.crt`, 'by what pods know the API'],
  ...signer('kubelet-serving', 'kubelet-serving'),
  ...signer('kubelet-client', 'kubelet-client'),
  ...signer('kube-apiserver-client', 'admin'),
  ...signer('legacy-unknown', 'legacy-unknown'),
  ['cluster-signing-duration', '8760h', 'one year, as every leaf'],
  ['allocate-node-cidrs', 'true', 'the node gets its subnet'],
  ['cluster-cidr', '10.128.0.0/14', 'networking.clusterNetwork'],
  ['node-cidr-mask-size-ipv4', '23', 'hostPrefix'],
  ['service-cluster-ip-range', '172.30.0.0/16', 'no node gets addresses of Services'],
  ['flex-volume-plugin-dir', '/etc/kubernetes/kubelet-plugins/volume/exec', '/usr is read-only'],
];

const scheduler: readonly Row[] = [
  ...guarded('kube-scheduler', '10259'),
  ['config', `${config('kube-scheduler')}/config.yaml`, 'kubeconfig, Lease and profiling'],
];

/** Every flag of every component: none is rendered without a reason, and none is missing. */
export const FLAGS: Readonly<Record<string, readonly Row[]>> = {
  etcd,
  'kube-apiserver': apiServer,
  'kube-controller-manager': controllerManager,
  'kube-scheduler': scheduler,
};
