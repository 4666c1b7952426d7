import t from 'tap';
import type { Finding } from '../../../report/bundle-view.ts';
import { causeOf } from '../../../report/causes.ts';
import { findAll } from '../../../report/findings.ts';
import { certificateExpired } from '../../../report/rules/certificate-expired.ts';
import { certificateExpiresSoon } from '../../../report/rules/certificate-expires-soon.ts';
import { csrPending } from '../../../report/rules/csr-pending.ts';
import { viewOf } from './view.ts';

interface Case {
  readonly what: string;
  /** Rule and title. */
  readonly cause: readonly [string, string];
  readonly finding: readonly [string, string];
  /** A line that the finding cites. */
  readonly says?: string;
}

const DISK = ['disk-full', 'The file system of / is full: 0 bytes of 119 GiB are free'] as const;
const DNS = [
  'dns-record-missing',
  'api.lab.example.test does not resolve: queryA ENOTFOUND api.lab.example.test',
] as const;
const ETCD = [
  'static-pod-crash-looping',
  'etcd of the static pod x has been started 9 times',
] as const;
const SERVER = [
  'static-pod-crash-looping',
  'kube-apiserver of the static pod x has been started 7 times',
] as const;
const SCHEDULER = [
  'static-pod-crash-looping',
  'kube-scheduler of the static pod x has been started 7 times',
] as const;
const API = ['api-not-answering', 'The API server has not answered for 4 min'] as const;
const LOGROTATE = ['unit-failed', 'logrotate.service failed (exit-code, status 1)'] as const;
const STEP = ['step-failed', 'post-reboot failed at step api: deadline exceeded'] as const;
const NODE = [
  'node-not-ready',
  'Node sno has not been ready for 9 min: it has no condition',
] as const;
const IP = [
  'node-ip-changed',
  'Node sno has 192.168.126.10, which no interface of the host has',
] as const;
const EXPIRED = ['certificate-expired', 'The certificate of CN=kubelet expired 3 h ago'] as const;
const RUNTIME = ['container-runtime-down', 'The container runtime is down: containerd'] as const;
const KUBELET = ['kubelet-down', 'The kubelet is not running (failed, failed)'] as const;
const IMAGE = ['image-pull-failing', 'The image quay.io/a/b:1 cannot be pulled for x'] as const;
const NO_CNI = ['network-plugin-not-ready', 'The network plugin is not ready'] as const;

const REQUEST = [
  'csr-pending',
  'Request csr-1 of system:node:sno to kubernetes.io/kubelet-serving has been pending for 9 h: x',
] as const;
const SERVING = [
  'certificate-expired',
  'The certificate of CN=system:node:sno expired 3 h ago: /var/lib/kubelet/pki/kubelet-server-current.pem',
] as const;
const SCHEDULERS = '/etc/kubernetes/pki/kube-scheduler/client.crt';
const NOT_RENEWED = [
  'certificate-not-renewed',
  `${SCHEDULERS} was not renewed: the API server does not accept it after 150 s`,
] as const;

const linked: readonly Case[] = [
  {
    what: 'the request of its successor',
    cause: REQUEST,
    finding: SERVING,
    says: '"name": "csr-1",',
  },
  {
    what: 'an expired serving certificate',
    cause: SERVING,
    finding: ['unit-failed', 'x.service failed'],
    says: 'tls: failed to verify certificate: x509: certificate has expired',
  },
  {
    what: 'the same file',
    cause: NOT_RENEWED,
    finding: ['certificate-expired', `The certificate of CN=x expired 3 h ago: ${SCHEDULERS}`],
  },
  {
    what: 'a write that failed',
    cause: DISK,
    finding: LOGROTATE,
    says: 'error writing to /var/lib/logrotate: No space left on device',
  },
  { what: 'a code of Node', cause: DISK, finding: STEP, says: 'ENOSPC: write' },
  {
    what: 'an eviction',
    cause: DISK,
    finding: [
      'pod-unschedulable',
      '2 pods cannot be scheduled: untolerated taint {node.kubernetes.io/disk-pressure: }',
    ],
  },
  {
    what: 'etcd on a full disk',
    cause: DISK,
    finding: ETCD,
    says: 'write /var/lib/etcd/member/snap/db: no space left on device',
  },
  {
    what: 'a read-only disk',
    cause: ['disk-io-errors', 'The kernel reports 2 errors of vda'],
    finding: KUBELET,
    says: 'open /var/lib/kubelet/x: read-only file system',
  },
  {
    what: 'the same name',
    cause: DNS,
    finding: STEP,
    says: 'dial tcp: lookup api.lab.example.test on 192.168.126.1:53: no such host',
  },
  {
    what: 'etcd below its client',
    cause: ETCD,
    finding: SERVER,
    says: 'dial tcp 127.0.0.1:2379: connect: connection refused',
  },
  { what: 'a server that is down', cause: SERVER, finding: API },
  {
    what: 'a refused request',
    cause: API,
    finding: STEP,
    says: 'GET https://127.0.0.1:6443/readyz: connect ECONNREFUSED 127.0.0.1:6443',
  },
  {
    what: 'an address that is gone',
    cause: IP,
    finding: KUBELET,
    says: 'dial tcp 192.168.126.10:6443: connect: no route to host',
  },
  {
    what: 'an expired certificate',
    cause: EXPIRED,
    finding: API,
    says: 'x509: certificate has expired or is not yet valid: current time 2026 is after 2025',
  },
  {
    what: 'a socket without a server',
    cause: RUNTIME,
    finding: KUBELET,
    says: 'dial unix /run/containerd/containerd.sock: connect: no such file or directory',
  },
  {
    what: 'the kubelet of a node',
    cause: KUBELET,
    finding: [
      'node-not-ready',
      'Node sno has not been ready: Kubelet stopped posting node status.',
    ],
  },
  {
    what: 'a required unit',
    cause: ['start-refused', 'sno-payload prevents the kubelet from starting'],
    finding: [
      'kubelet-down',
      'The kubelet is not running, since sno-payload.service failed, which it requires',
    ],
  },
  {
    what: 'the same image',
    cause: IMAGE,
    finding: ETCD,
    says: 'Back-off pulling image "quay.io/a/b:1"',
  },
  {
    what: 'a missing plugin',
    cause: NO_CNI,
    finding: [
      'node-not-ready',
      'Node sno has not been ready: NetworkPluginNotReady cni plugin not initialized',
    ],
  },
  {
    what: 'a process that the kernel killed',
    cause: ['memory-pressure', '9 MiB of 16 GiB memory are available'],
    finding: ['unit-failed', 'x.service failed (oom-kill)'],
  },
];

const apart: readonly Case[] = [
  { what: 'another request', cause: REQUEST, finding: SERVING, says: '"name": "csr-12",' },
  { what: 'an expired client', cause: EXPIRED, finding: SERVING, says: '"name": "csr-1",' },
  { what: 'another file', cause: NOT_RENEWED, finding: EXPIRED },
  { what: 'a name that does not resolve', cause: DISK, finding: DNS },
  {
    what: 'another reason',
    cause: DISK,
    finding: LOGROTATE,
    says: 'logrotate: unknown option "x"',
  },
  { what: 'no reason given', cause: DISK, finding: API },
  { what: 'a full disk and a node', cause: DISK, finding: NODE },
  { what: 'another name', cause: DNS, finding: STEP, says: 'lookup quay.io: no such host' },
  {
    what: 'a longer name',
    cause: DNS,
    finding: STEP,
    says: 'lookup myapi.lab.example.test: no such host',
  },
  {
    what: 'the name, but refused',
    cause: DNS,
    finding: STEP,
    says: 'dial https://api.lab.example.test:6443: connection refused',
  },
  {
    what: 'the new address',
    cause: IP,
    finding: KUBELET,
    says: 'dial tcp 192.168.126.100:6443: connect: no route to host',
  },
  {
    what: 'another port',
    cause: ETCD,
    finding: SERVER,
    says: 'dial tcp 127.0.0.1:10250: connect: connection refused',
  },
  { what: 'another component', cause: SCHEDULER, finding: API },
  {
    what: 'etcd, of a server',
    cause: SERVER,
    finding: ETCD,
    says: 'dial tcp 127.0.0.1:6443: connection refused',
  },
  {
    what: 'a full disk, of a unit',
    cause: LOGROTATE,
    finding: DISK,
    says: 'logrotate.service failed: No space left on device',
  },
  {
    what: 'another image',
    cause: IMAGE,
    finding: ETCD,
    says: 'Back-off pulling image "quay.io/a/c:1"',
  },
  {
    what: 'a longer image',
    cause: IMAGE,
    finding: ETCD,
    says: 'Back-off pulling image "quay.io/a/b:1-debug"',
  },
  { what: 'an expired token', cause: EXPIRED, finding: STEP, says: 'the token has expired' },
  {
    what: 'a database quota',
    cause: DISK,
    finding: ['etcd-alarm', 'etcd has raised the alarm NOSPACE: nothing can be written'],
  },
];

const made = (
  [rule, title]: readonly [string, string],
  text = '',
  more: Partial<Finding> = {},
): Finding => ({
  rule,
  title,
  severity: 'failing',
  evidence: [{ file: `${rule}.log`, line: 1, text }],
  todo: '',
  ...more,
});

for (const [cases, follows] of [
  [linked, true],
  [apart, false],
] as const) {
  for (const { what, cause, finding, says } of cases) {
    t.test(
      `${finding[0]} ${follows ? 'follows' : 'does not follow'} from ${cause[0]}: ${what}`,
      async (t) => {
        const [one, other] = [made(cause, '', { evidence: [] }), made(finding, says)];
        for (const all of [
          [one, other],
          [other, one],
        ]) {
          t.equal(causeOf(other, all), follows ? one : undefined);
        }
      },
    );
  }
}

t.test('a finding that ended something follows from one that cites the same line', async (t) => {
  const evidence = [{ file: 'steps/bootkube.jsonl', line: 7, text: 'x' }];
  const cause = made(['manifest-rejected', 'a manifest was rejected'], '', { evidence });
  const follows = (rule: string, more: Partial<Finding>) =>
    causeOf(made([rule, 'y'], '', more), [cause])?.rule;
  t.equal(follows('step-waiting', { evidence }), 'manifest-rejected');
  t.equal(follows('step-waiting', { evidence: [{ file: 'x', line: 7, text: '' }] }), undefined);
  t.equal(follows('csr-pending', { evidence }), undefined, 'which is more than an end');
  const node = { evidence: [{ file: 'resources/nodes.json', line: 5, text: 'x' }] };
  const other = made(['manifest-rejected', 'z'], '', node);
  t.equal(causeOf(made(['step-waiting', 'y'], '', node), [other]), undefined, 'an API object');
});

t.test('a cause is failing, and not later than its consequence', async (t) => {
  const hour = 3_600_000;
  const says = 'No space left on device';
  const follows = (cause: Partial<Finding>, sinceMs = hour) =>
    causeOf(made(LOGROTATE, says, { sinceMs }), [made(DISK, '', cause)])?.rule;
  t.equal(follows({ sinceMs: 0 }), 'disk-full');
  t.equal(follows({ sinceMs: 0, severity: 'warning' }), undefined);
  t.equal(follows({ sinceMs: 2 * hour }), undefined);
  t.equal(follows({ sinceMs: hour + 60_000 }), 'disk-full', 'noticed a little later');
});

t.test('a pending request explains the expiry that follows, however long ago', async (t) => {
  for (const [notBefore, notAfter] of [
    ['2025-11-01', '2026-11-01'],
    ['2025-11-25', '2026-11-25'],
  ] as const) {
    const request = {
      metadata: { name: 'csr-1', creationTimestamp: '2026-11-21T15:10:00Z' },
      spec: { signerName: 'kubernetes.io/kubelet-serving', username: 'system:node:sno' },
    };
    const serving = {
      file: '/var/lib/kubelet/pki/kubelet-server-current.pem',
      subject: 'CN=system:node:sno',
      notBefore: `${notBefore}T00:00:00.000Z`,
      notAfter: `${notAfter}T00:00:00.000Z`,
      isAuthority: false,
    };
    const view = viewOf({
      'resources/nodes.json': JSON.stringify({ items: [{ metadata: { name: 'sno' } }] }, null, 2),
      'resources/csr.json': JSON.stringify({ items: [request] }, null, 2),
      'control-plane/master/certificates/certificates.json': JSON.stringify([serving], null, 2),
    });
    const found = findAll(view, [certificateExpired, csrPending, certificateExpiresSoon]);
    t.match(found, [
      { rule: 'csr-pending', follows: undefined },
      { rule: /^certificate-expire/, follows: 'csr-pending', cause: 0 },
    ]);
    t.equal(found.length, 2, notAfter);
  }
});
