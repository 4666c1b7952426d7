import { condition, json, list, M, object, type RuleCase } from './rule-case.ts';

const LONG_AGO = '2026-11-21T14:50:00Z';
const JUST_NOW = '2026-11-21T15:19:30Z';

const kubelet = (...lines: string[]) => ({
  [`${M}/journals/kubelet.log`]: lines.map((line) => `${line}\n`).join(''),
});
const pod = (name: string, namespace: string, more: object) =>
  object(name, { namespace, created: LONG_AGO, ...more });
const waiting = (reason: string, message: string, restartCount = 0) => ({
  status: {
    containerStatuses: [
      {
        name: 'app',
        image: 'quay.io/x/app:1',
        restartCount,
        state: { waiting: { reason, message } },
      },
    ],
  },
});
const container = (name: string, attempt: number, more: object) => ({
  id: `${name}0123456789abcdef`,
  name,
  attempt,
  state: 'CONTAINER_EXITED',
  startedAt: '2026-11-21T15:18:00Z',
  pod: { name: `${name}-sno`, namespace: 'kube-system' },
  ...more,
});
const containers = (...all: object[]) => ({ [`${M}/containers/containers.json`]: json(all) });
const metrics = (text: string) => ({ [`${M}/etcd/metrics.txt`]: text });

export const workloadCases: readonly RuleCase[] = [
  {
    rule: 'image-pull-failing',
    of: 'a pod that waits and a pull that the kubelet speaks of',
    files: {
      'resources/pods.json': list(
        pod('web', 'shop', waiting('ImagePullBackOff', 'Back-off pulling image')),
      ),
      ...kubelet(
        '2026-11-21T15:18:00.1+0000 kubelet[2]: E1121 15:18:00.1 2 log.go:32] "PullImage from image service failed" err="x" image="registry.k8s.io/etcd:9"',
      ),
    },
    finds: [
      {
        severity: 'failing',
        title: /quay.io\/x\/app:1 cannot be pulled for app of shop\/web: ImagePullBackOff/,
        at: 'resources/pods.json:6',
      },
      {
        severity: 'failing',
        title: /registry.k8s.io\/etcd:9 cannot be pulled for the kubelet/,
        at: `${M}/journals/kubelet.log:1`,
      },
    ],
  },
  {
    rule: 'image-pull-failing',
    of: 'a container that is being created, and a pull that failed long ago',
    files: {
      'resources/pods.json': list(pod('web', 'shop', waiting('ContainerCreating', ''))),
      ...kubelet(
        '2026-11-21T14:18:00.1+0000 kubelet[2]: E1121 14:18:00.1 2 log.go:32] "PullImage from image service failed" err="x" image="registry.k8s.io/etcd:9"',
      ),
    },
  },
  {
    rule: 'image-damaged',
    of: 'programs that a power cut has left empty, and a copy that sno-payload could not replace',
    files: {
      [`${M}/journals/sno-payload.log`]:
        "2026-11-21T15:02:00.1+0000 sno-payload[9]: The runtime's copy of coredns is still damaged: /coredns has 0 of 9 bytes. A pod needs it: restart the host\n",
      ...kubelet(
        '2026-11-21T15:18:00.1+0000 kubelet[2]: E1121 15:18:00.1 2 log.go:32] "RunPodSandbox from runtime service failed" err="rpc error: code = Unknown desc = runc create failed: unable to start container process: exec: \\"/pause\\": stat /pause: no such file or directory: unknown"',
      ),
      [`${M}/containers/tails/coredns-01234567.log`]:
        '2026-11-21T15:18:01.1Z exec /coredns: exec format error\n',
    },
    finds: [
      {
        severity: 'failing',
        title: /files of the image coredns are damaged/,
        at: `${M}/journals/sno-payload.log:1`,
      },
      {
        severity: 'failing',
        title: /empty or missing: exec: "\/pause": stat \/pause: no such file or directory/,
        at: `${M}/journals/kubelet.log:1`,
      },
      {
        severity: 'failing',
        title: /empty or missing: exec \/coredns: exec format error/,
        at: `${M}/containers/tails/coredns-01234567.log:1`,
      },
    ],
  },
  {
    rule: 'image-damaged',
    of: 'a program that was missing long ago, and a command that a person misspelt',
    files: kubelet(
      '2026-11-21T14:18:00.1+0000 kubelet[2]: E1121 14:18:00.1 2 log.go:32] "x" err="exec: \\"/pause\\": stat /pause: no such file or directory"',
      '2026-11-21T15:18:00.1+0000 kubelet[2]: E1121 15:18:00.1 2 log.go:32] "x" err="exec: \\"slepp\\": executable file not found in $PATH"',
    ),
  },
  {
    rule: 'static-pod-crash-looping',
    of: 'an etcd that has ended for the ninth time, and what it said',
    files: {
      ...containers(
        container('etcd', 7, { exitCode: 0 }),
        container('etcd', 8, { exitCode: 2, reason: 'Error' }),
      ),
      [`${M}/containers/tails/etcd-etcd01234567.log`]:
        '2026-11-21T15:18:01.1Z {"level":"fatal","msg":"cannot open"}\n',
    },
    finds: [
      {
        severity: 'failing',
        title:
          /etcd of the static pod kube-system\/etcd-sno has been started 9 times, it is down, last with exit code 2 \(Error\)/,
      },
    ],
  },
  {
    rule: 'static-pod-crash-looping',
    of: 'restarts while the host came up, and a pod that is no static one',
    files: containers(
      container('kube-controller-manager', 1, { exitCode: 1 }),
      container('kube-scheduler', 5, {
        state: 'CONTAINER_RUNNING',
        startedAt: '2026-11-21T14:59:00Z',
      }),
      container('web', 9, { exitCode: 1 }),
    ),
  },
  {
    rule: 'pod-crash-looping',
    of: 'a pod in back-off',
    files: {
      'resources/pods.json': list(
        pod('web', 'shop', waiting('CrashLoopBackOff', 'back-off 5m0s', 12)),
      ),
    },
    finds: [
      {
        severity: 'warning',
        title: /app of shop\/web keeps crashing: 12 restarts/,
        todo: /logs --previous web --namespace shop/,
      },
    ],
  },
  {
    rule: 'pod-crash-looping',
    of: 'a mirror pod, which has a rule of its own',
    files: {
      'resources/pods.json': list({
        ...pod('etcd-sno', 'kube-system', waiting('CrashLoopBackOff', '')),
        metadata: { name: 'etcd-sno', annotations: { 'kubernetes.io/config.mirror': 'x' } },
      }),
    },
  },
  {
    rule: 'etcd-alarm',
    of: 'a full database',
    files: { [`${M}/etcd/alarms.json`]: json([{ memberID: '1', alarm: 'NOSPACE' }]) },
    finds: [{ severity: 'failing', title: /alarm NOSPACE/, at: `${M}/etcd/alarms.json:4` }],
  },
  { rule: 'etcd-alarm', of: 'no alarm', files: { [`${M}/etcd/alarms.json`]: '[]\n' } },
  {
    rule: 'etcd-no-leader',
    of: 'no leader',
    files: metrics('etcd_server_has_leader 0\n'),
    finds: [{ severity: 'failing', title: /no leader/ }],
  },
  { rule: 'etcd-no-leader', of: 'a leader', files: metrics('etcd_server_has_leader 1\n') },
  {
    rule: 'etcd-db-large',
    of: '90 % of the quota',
    files: metrics(
      'etcd_mvcc_db_total_size_in_bytes 1.8e+09\netcd_server_quota_backend_bytes 2e+09\n',
    ),
    finds: [{ severity: 'warning', title: /1.7 GiB, 90% of its quota/ }],
  },
  {
    rule: 'etcd-db-large',
    of: 'a small database',
    files: metrics(
      'etcd_mvcc_db_total_size_in_bytes 2e+06\netcd_server_quota_backend_bytes 2e+09\n',
    ),
  },
  {
    rule: 'deferred-waiting',
    of: 'one of each state',
    files: {
      'resources/configmaps.json': list(
        object('sno-deferred', {
          namespace: 'kube-system',
          data: {
            a: 'applied T',
            b: 'waiting for Card in x/v1 to be served',
            c: 'rejected: no',
            d: 'expired T, waiting',
          },
        }),
      ),
    },
    finds: [
      { severity: 'failing', title: /1 deferred manifest is rejected: c \(rejected: no\)/ },
      { severity: 'failing', title: /not applied in time: d/ },
      { severity: 'note', title: /waiting: b/ },
    ],
  },
  {
    rule: 'deferred-waiting',
    of: 'all applied',
    files: {
      'resources/configmaps.json': list(
        object('sno-deferred', { namespace: 'kube-system', data: { a: 'applied T' } }),
      ),
    },
  },
  {
    rule: 'pod-unschedulable',
    of: 'a node that is too small',
    files: {
      'resources/nodes.json': list(object('sno', {})),
      'resources/pods.json': list(
        pod('web', 'openshift-x', {
          status: {
            conditions: [
              {
                ...condition(
                  'PodScheduled',
                  'False',
                  '0/1 nodes are available: 1 Insufficient memory.',
                  LONG_AGO,
                ),
                reason: 'Unschedulable',
              },
            ],
          },
        }),
      ),
    },
    finds: [
      { severity: 'failing', title: /1 pod cannot be scheduled: openshift-x\/web: 0\/1 nodes/ },
    ],
  },
  {
    rule: 'pod-unschedulable',
    of: 'a pod that waits for the new node',
    files: {
      'resources/pods.json': list(
        pod('web', 'kube-system', {
          status: {
            conditions: [
              { ...condition('PodScheduled', 'False', 'x', JUST_NOW), reason: 'Unschedulable' },
            ],
          },
        }),
      ),
    },
  },
  {
    rule: 'cluster-operator-degraded',
    of: 'an operator of an installed cluster',
    files: {
      'resources/clusterversion.json': list(
        object('version', {
          status: { conditions: [condition('Available', 'True', '', LONG_AGO)] },
        }),
      ),
      'resources/clusteroperators.json': list(
        object('dns', {
          status: {
            conditions: [
              condition('Available', 'True', '', LONG_AGO),
              condition('Degraded', 'True', 'no pods', LONG_AGO),
            ],
          },
        }),
      ),
    },
    finds: [
      {
        severity: 'failing',
        title: /operator dns is degraded: no pods/,
        todo: /describe clusteroperator dns/,
      },
    ],
  },
  {
    rule: 'cluster-operator-degraded',
    of: 'an operator that works',
    files: {
      'resources/clusteroperators.json': list(
        object('dns', {
          status: {
            conditions: [
              condition('Available', 'True', '', LONG_AGO),
              condition('Degraded', 'False', '', LONG_AGO),
            ],
          },
        }),
      ),
    },
  },
];
