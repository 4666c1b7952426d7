import { condition, json, list, M, object, type RuleCase, shown } from './rule-case.ts';

const scheduled = condition('PodScheduled', 'True', '', '2026-11-21T14:40:00Z');
const waiting = (name: string, more: object = {}, status: object = {}) =>
  object(name, {
    namespace: 'shop',
    ...more,
    status: {
      phase: 'Pending',
      conditions: [scheduled],
      containerStatuses: [{ name: 'a', state: { waiting: { reason: 'ContainerCreating' } } }],
      ...status,
    },
  });
const event = (name: string, pod: string, reason: string, message: string, last: string) =>
  object(name, {
    namespace: 'shop',
    created: '2026-11-21T14:41:00Z',
    involvedObject: { kind: 'Pod', namespace: 'shop', name: pod },
    reason,
    message,
    lastTimestamp: `2026-11-21T${last}Z`,
  });
const pods = (...all: object[]) => ({ 'resources/pods.json': list(...all) });
const events = (...all: object[]) => ({ 'resources/events.json': list(...all) });

const kubernetes = {
  [`${M}/agents/cluster.json`]: json({ controlPlane: 'kubernetes' }),
  [`${M}/systemd/show.txt`]: shown('kubelet.service', 'active', 'running'),
};
const firewall = (text: string) => ({ ...kubernetes, [`${M}/network/firewall.txt`]: text });
const TABLE = `table inet sno-pods {
\tchain egress {
\t\ttype nat hook postrouting priority 100; policy accept;
\t\tip saddr 10.244.0.0/16 ip daddr != { 10.244.0.0/16, 224.0.0.0/4 } masquerade
\t}
}
`;

const cycle = (at: string, text: string) => `2026-11-21T${at}+00:00 host systemd[1]: ${text}\n`;
const entry = (text: string) =>
  `${JSON.stringify({ __REALTIME_TIMESTAMP: `${Date.parse('2026-11-21T14:50:00Z') * 1000}`, SYSLOG_IDENTIFIER: 'systemd', MESSAGE: text })}\n`;

export const waitingCases: readonly RuleCase[] = [
  {
    rule: 'pod-not-starting',
    of: 'a Secret that does not exist, said again and again for 40 minutes',
    files: {
      ...pods(waiting('web')),
      ...events(
        event('web.1', 'web', 'FailedMount', 'an old reason', '14:58:00'),
        event('web.2', 'web', 'FailedMount', 'secret "tls" not found', '15:18:00'),
        event('web.3', 'web', 'Scheduled', 'assigned', '15:19:00'),
      ),
    },
    finds: [
      {
        severity: 'warning',
        title:
          /^1 pod waits for sandbox or volumes, for 40 min: shop\/web: FailedMount: secret "tls"/,
        at: 'resources/events.json:21',
      },
    ],
  },
  {
    rule: 'pod-not-starting',
    of: 'pods of the cluster without a sandbox, for one reason',
    files: {
      ...pods(
        waiting('dns-1', { namespace: 'kube-system' }),
        waiting('dns-2', { namespace: 'kube-system' }),
      ),
      [`${M}/journals/kubelet.log`]: ['dns-1', 'dns-2']
        .map(
          (name) =>
            `2026-11-21T15:19:00+00:00 host kubelet[1]: E1121 "CreatePodSandbox for pod failed" err="plugin type=bridge failed" pod="kube-system/${name}"\n`,
        )
        .join(''),
    },
    finds: [{ severity: 'failing', title: /^2 pods wait .*dns-1.*dns-2.*CreatePodSandbox/ }],
  },
  {
    rule: 'pod-not-starting',
    of: 'nothing was said in the last quarter of an hour',
    files: {
      ...pods(waiting('web')),
      ...events(event('web.1', 'web', 'FailedMount', 'an old reason', '14:58:00')),
    },
    finds: [{ severity: 'warning', title: /web: the kubelet has not said why$/ }],
  },
  {
    rule: 'pod-not-starting',
    of: 'pods that are new, wait for an image, are in an init container, or have no node',
    files: pods(
      waiting(
        'new',
        {},
        { conditions: [condition('PodScheduled', 'True', '', '2026-11-21T15:18:00Z')] },
      ),
      waiting(
        'image',
        {},
        { containerStatuses: [{ name: 'a', state: { waiting: { reason: 'ErrImagePull' } } }] },
      ),
      waiting(
        'init',
        {},
        { initContainerStatuses: [{ name: 'i', containerID: 'x://1', state: { running: {} } }] },
      ),
      waiting('no-node', {}, { conditions: [] }),
      waiting('runs', {}, { phase: 'Running' }),
    ),
  },
  {
    rule: 'ordering-cycle',
    of: 'the job of a unit that is down, in its journal and among the errors',
    files: {
      [`${M}/systemd/show.txt`]: shown('kubelet.service', 'inactive', 'dead'),
      [`${M}/journals/kubelet.log`]: cycle(
        '14:50:00',
        'kubelet.service: Job kubelet.service/start deleted to break ordering cycle starting with multi-user.target/start',
      ),
      [`${M}/journals/errors.jsonl`]: entry(
        'Job kubelet.service/start deleted to break ordering cycle starting with multi-user.target/start',
      ),
    },
    finds: [
      {
        severity: 'failing',
        title:
          /^systemd did not start kubelet\.service: .* an ordering cycle that multi-user\.target is in$/,
        todo: /"systemctl cat kubelet\.service".*"systemctl start kubelet\.service"/,
      },
    ],
  },
  {
    rule: 'ordering-cycle',
    of: 'as newer systemd words it, of a unit that was started later',
    files: {
      [`${M}/systemd/show.txt`]: shown('chronyd.service', 'active', 'running'),
      [`${M}/journals/errors.jsonl`]: entry(
        'basic.target: deleting job chronyd.service/start to break ordering cycle',
      ),
    },
    finds: [{ severity: 'warning', title: /chronyd\.service.*started later$/ }],
  },
  {
    rule: 'ordering-cycle',
    of: 'one of the boot before',
    files: {
      [`${M}/systemd/show.txt`]: shown('kubelet.service', 'active', 'running'),
      [`${M}/journals/previous-errors.jsonl`]: entry(
        'Job kubelet.service/start deleted to break ordering cycle starting with a.service/start',
      ),
    },
  },
  {
    rule: 'pod-egress-missing',
    of: 'a table that was deleted',
    files: firewall('table inet filter {\n}\n'),
    finds: [{ severity: 'failing', title: /no table sno-pods$/, todo: /nft --file/ }],
  },
  {
    rule: 'pod-egress-missing',
    of: 'a table without rules, before another that has some',
    files: firewall(
      `table inet sno-pods {\n\tchain egress {\n\t}\n}\ntable ip nat {\n\tmasquerade\n}\n`,
    ),
    finds: [{ severity: 'failing', title: /is empty$/, at: `${M}/network/firewall.txt:1` }],
  },
  {
    rule: 'pod-egress-missing',
    of: 'a host without any rule',
    files: firewall('\n'),
    finds: [{ severity: 'failing', title: /no table sno-pods$/ }],
  },
  { rule: 'pod-egress-missing', of: 'a table that is there', files: firewall(TABLE) },
  {
    rule: 'pod-egress-missing',
    of: 'a list that was cut, and hosts that need no table',
    files: firewall('table inet filter {\n(the rest was left out)\n'),
  },
  {
    rule: 'pod-egress-missing',
    of: 'OpenShift, whose network plugin does it',
    files: {
      ...firewall('table inet filter {\n}\n'),
      [`${M}/agents/cluster.json`]: json({ controlPlane: 'openshift' }),
    },
  },
  {
    rule: 'image-pull-failing',
    of: 'an image that the payload has',
    files: {
      ...pods(
        waiting(
          'web',
          {},
          {
            containerStatuses: [
              { name: 'a', image: 'quay.test/a:1', state: { waiting: { reason: 'ErrImagePull' } } },
            ],
          },
        ),
      ),
      [`${M}/agents/payload.yaml`]: 'images:\n- names:\n  - quay.test/a:1\n',
    },
    finds: [
      {
        severity: 'failing',
        title: /quay\.test\/a:1/,
        todo: /^The payload .* has .*"sno-payload run"/,
      },
    ],
  },
  {
    rule: 'image-pull-failing',
    of: 'one that it does not have, with a name like it',
    files: {
      ...pods(
        waiting(
          'web',
          {},
          {
            containerStatuses: [
              { name: 'a', image: 'quay.test/a:1', state: { waiting: { reason: 'ErrImagePull' } } },
            ],
          },
        ),
      ),
      [`${M}/agents/payload.yaml`]: 'images:\n- names: ["quay.test/a:12"]\n',
    },
    finds: [{ severity: 'failing', title: /quay\.test\/a:1/, todo: /^Depending on the error/ }],
  },
];
