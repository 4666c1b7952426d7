import { condition, json, list, M, object, type RuleCase, shown, step } from './rule-case.ts';

const LONG_AGO = '2026-11-21T14:50:00Z';
const JUST_NOW = '2026-11-21T15:19:30Z';

const node = (name: string, ready: object, created = LONG_AGO) =>
  object(name, { created, status: { conditions: [ready] } });
const READY = condition('Ready', 'True', 'kubelet is posting ready status', LONG_AGO);
const NO_CNI = condition(
  'Ready',
  'False',
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized',
  LONG_AGO,
);
const kubelet = (...lines: string[]) => ({
  [`${M}/journals/kubelet.log`]: lines.map((line) => `${line}\n`).join(''),
});
const refused = (at: string) =>
  `2026-11-21T${at}.120331+0000 kubelet[288]: E1121 ${at}.120331     288 controller.go:145] "Failed to ensure lease exists, will retry" err="Get \\"https://127.0.0.1:6443/apis/coordination.k8s.io/v1/x\\": dial tcp 127.0.0.1:6443: connect: connection refused"`;
const runtime = (network: boolean) => ({
  [`${M}/containers/runtime.json`]: json({
    status: {
      conditions: [
        { type: 'RuntimeReady', status: true },
        { type: 'NetworkReady', status: network, message: 'cni plugin not initialized' },
      ],
    },
  }),
});
const ACTIVE = { [`${M}/systemd/show.txt`]: shown('kubelet.service', 'active', 'running') };

export const apiCases: readonly RuleCase[] = [
  {
    rule: 'api-not-answering',
    of: 'refused connections since the API was last heard of',
    files: {
      ...ACTIVE,
      ...kubelet(
        refused('14:58:46'),
        '2026-11-21T14:58:53.1+0000 kubelet[288]: I1121 14:58:53.1 288 x.go:1] "Successfully registered node" node="sno"',
        refused('15:16:00'),
        refused('15:19:50'),
      ),
    },
    finds: [
      {
        severity: 'failing',
        title: /has not answered for 4 min/,
        at: `${M}/journals/kubelet.log:4`,
      },
    ],
  },
  {
    rule: 'api-not-answering',
    of: 'refused connections, after an answer that a clock ahead has dated',
    files: {
      ...ACTIVE,
      ...kubelet(
        '2026-11-21T21:00:00.1+0000 kubelet[288]: I1121 21:00:00.1 288 x.go:1] "Successfully registered node" node="sno"',
        refused('15:16:00'),
        refused('15:19:50'),
      ),
    },
    finds: [{ severity: 'failing', title: /has not answered for 4 min/ }],
  },
  {
    rule: 'api-not-answering',
    of: 'checks that fail',
    files: {
      ...ACTIVE,
      'resources/api/readyz.txt':
        '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n',
    },
    finds: [
      {
        severity: 'failing',
        title: /its checks etcd fail/,
        todo: /etcd first/,
        at: 'resources/api/readyz.txt:2',
      },
    ],
  },
  {
    rule: 'api-not-answering',
    of: 'only the collection that could not reach it',
    files: ACTIVE,
    failures: [{ path: 'resources/nodes.json', reason: 'connect ETIMEDOUT 127.0.0.1:6443' }],
    finds: [{ severity: 'failing', title: /does not answer: connect ETIMEDOUT/ }],
  },
  {
    rule: 'api-not-answering',
    of: 'a server that has ended, and what it said last',
    files: {
      ...ACTIVE,
      [`${M}/containers/containers.json`]: json([
        {
          id: 'abcdef0123456789',
          name: 'kube-apiserver',
          attempt: 1,
          state: 'exited',
          exitCode: 1,
        },
      ]),
      [`${M}/containers/tails/kube-apiserver-abcdef0123456789.log`]:
        '2026-11-21T15:19:40.1Z Error: unknown flag: --no-such-option\n2026-11-21T15:19:40.1Z See --help\n',
    },
    failures: [{ path: 'resources/origin.txt', reason: 'connect ECONNREFUSED 127.0.0.1:6443' }],
    finds: [
      {
        severity: 'failing',
        title: /does not answer/,
        at: `${M}/containers/tails/kube-apiserver-abcdef0123456789.log:1`,
      },
    ],
  },
  {
    rule: 'api-not-answering',
    of: 'the refusals of every start',
    files: {
      ...ACTIVE,
      ...kubelet(refused('14:58:46'), refused('14:58:50')),
      'resources/api/readyz.txt': 'ok\n',
    },
  },
  {
    rule: 'api-not-answering',
    of: 'refusals by a clock that was ahead',
    files: { ...ACTIVE, ...kubelet(refused('23:19:40'), refused('23:19:50')) },
  },
  {
    rule: 'api-not-answering',
    of: 'an all-in-one host whose control plane has not started yet',
    files: { ...ACTIVE, [`${M}/steps/aiokube.jsonl`]: step('15:00:00', 'payload', 'done') },
    failures: [{ path: 'resources/nodes.json', reason: 'connect ECONNREFUSED 127.0.0.1:6443' }],
  },
  {
    rule: 'api-not-answering',
    of: 'an all-in-one host whose control plane has started',
    files: { ...ACTIVE, [`${M}/steps/aiokube.jsonl`]: step('15:00:00', 'control-plane', 'done') },
    failures: [{ path: 'resources/nodes.json', reason: 'connect ECONNREFUSED 127.0.0.1:6443' }],
    finds: [{ severity: 'failing', title: /does not answer/ }],
  },
  {
    rule: 'api-not-answering',
    of: 'the live host after its control plane was stopped',
    files: {
      'bootstrap/steps/bootkube.jsonl':
        step('15:00:00', 'control-plane', 'done') + step('15:10:00', 'quiesce', 'done'),
      'bootstrap/journals/kubelet.log': refused('15:19:50'),
    },
    failures: [{ path: 'resources/nodes.json', reason: 'connect ECONNREFUSED 127.0.0.1:6443' }],
  },
  {
    rule: 'kubelet-not-registered',
    of: 'no Node after 20 minutes',
    files: {
      ...ACTIVE,
      'resources/nodes.json': list(),
      ...kubelet(
        '2026-11-21T15:19:00.1+0000 kubelet[2]: E1121 15:19:00.1 2 kubelet_node_status.go:107] "Unable to register node with API server" err="Unauthorized"',
      ),
    },
    finds: [
      {
        severity: 'failing',
        title: /has been running for 21 min 15 s, but the API has no Node/,
        at: `${M}/journals/kubelet.log:1`,
      },
    ],
  },
  {
    rule: 'kubelet-not-registered',
    of: 'a Node',
    files: { ...ACTIVE, 'resources/nodes.json': list(node('sno', READY)) },
  },
  {
    rule: 'kubelet-not-registered',
    of: 'the standalone kubelet of the live host',
    files: {
      'bootstrap/systemd/show.txt': shown('kubelet.service', 'active', 'running'),
      'resources/nodes.json': list(),
    },
  },
  {
    rule: 'node-not-ready',
    of: 'a node that is not ready',
    files: { 'resources/nodes.json': list(node('sno', NO_CNI)) },
    finds: [
      {
        severity: 'failing',
        title: /Node sno has not been ready for 30 min: container runtime network/,
      },
    ],
  },
  {
    rule: 'node-not-ready',
    of: 'a node of a moment ago',
    files: { 'resources/nodes.json': list(node('sno', NO_CNI, JUST_NOW)) },
    finds: [{ severity: 'warning', title: /Node sno/ }],
  },
  {
    rule: 'node-not-ready',
    of: 'a node that is ready',
    files: { 'resources/nodes.json': list(node('sno', READY)) },
  },
  {
    rule: 'network-plugin-not-ready',
    of: 'no CNI plugin',
    files: { ...runtime(false), 'resources/nodes.json': list(node('sno', NO_CNI)) },
    finds: [{ severity: 'failing', title: /Pods have no network: cni plugin not initialized/ }],
  },
  {
    rule: 'network-plugin-not-ready',
    of: 'a live host, which has none on purpose',
    files: {
      'bootstrap/containers/runtime.json': runtime(false)[`${M}/containers/runtime.json`] ?? '',
      'bootstrap/systemd/units.json': '[]',
    },
  },
  { rule: 'network-plugin-not-ready', of: 'a working one', files: runtime(true) },
  {
    rule: 'aggregated-api-unavailable',
    of: 'an API without a server',
    files: {
      ...ACTIVE,
      'resources/apiservices.json': list(
        object('v1beta1.metrics.k8s.io', {
          spec: { service: { name: 'metrics', namespace: 'kube-system' } },
          status: { conditions: [condition('Available', 'False', 'no endpoints', LONG_AGO)] },
        }),
      ),
    },
    finds: [
      {
        severity: 'failing',
        title:
          /v1beta1.metrics.k8s.io \(served by kube-system\/metrics\) is not available: no endpoints/,
      },
    ],
  },
  {
    rule: 'aggregated-api-unavailable',
    of: 'one whose pods wait for the reboot, on the live host',
    files: {
      'bootstrap/systemd/units.json': '[]',
      'resources/apiservices.json': list(
        object('v1.route', {
          status: { conditions: [condition('Available', 'False', 'x', LONG_AGO)] },
        }),
      ),
    },
  },
  {
    rule: 'aggregated-api-unavailable',
    of: 'a local API',
    files: {
      'resources/apiservices.json': list(
        object('v1.apps', {
          status: { conditions: [condition('Available', 'True', '', LONG_AGO)] },
        }),
      ),
    },
  },
  {
    rule: 'webhook-failing',
    of: 'a webhook without endpoints',
    files: {
      [`${M}/containers/tails/kube-apiserver-1.log`]:
        '2026-11-21T15:18:00.1Z stderr F W1121 15:18:00.1 1 dispatcher.go:225] failed calling webhook "check.example.test": failed to call webhook: Post "https://x.svc:443/y": dial tcp 10.1.1.1:443: connect: connection refused\n',
    },
    finds: [
      {
        severity: 'warning',
        title: /webhook check.example.test cannot be called.*connection refused/,
      },
    ],
  },
  {
    rule: 'webhook-failing',
    of: 'a webhook that is named behind an object of many kilobytes',
    files: kubelet(
      `2026-11-21T15:18:00.1+0000 kubelet[288]: E1121 "Failed to update status for pod" err="failed to patch status \\"${'{\\"name\\":\\"x\\"}'.repeat(2000)}\\": failed calling webhook \\"check.example.test\\": failed to call webhook: connection refused"`,
    ),
    finds: [{ severity: 'warning', title: /webhook check.example.test cannot be called/ }],
  },
  {
    rule: 'webhook-failing',
    of: 'one that failed an hour ago',
    files: {
      [`${M}/containers/tails/kube-apiserver-1.log`]:
        '2026-11-21T14:18:00.1Z stderr F failed calling webhook "check.example.test": x\n',
    },
  },
];
