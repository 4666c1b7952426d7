import t from 'tap';
import type { Evidence } from '../../../report/bundle-view.ts';
import { findingsOf } from '../../../report/findings.ts';
import { rules } from '../../../report/rules.ts';
import { json, list, M, shown } from './rule-case.ts';
import { viewOf } from './view.ts';

/** What the only finding of a rule shows, in a bundle of 15:20. */
function shownBy(rule: string, files: Readonly<Record<string, string>>): string {
  const view = viewOf(files);
  const found = rules.filter(({ name }) => name === rule).flatMap((one) => findingsOf(one, view));
  return found
    .flatMap(({ evidence }): readonly Evidence[] => evidence)
    .map(({ text }) => text)
    .join('\n');
}

const line = (at: string, text: string) => `2026-11-21T${at}+00:00 host kubelet[1]: ${text}\n`;
const error = (at: string, message: string) =>
  `${JSON.stringify({ __REALTIME_TIMESTAMP: `${Date.parse(`2026-11-21T${at}Z`) * 1000}`, _SYSTEMD_UNIT: 'a.service', MESSAGE: message })}\n`;

const ID = '65746364657463646574636465746364';
const looping = {
  [`${M}/containers/containers.json`]: json([
    {
      id: ID,
      name: 'etcd',
      attempt: 7,
      state: 'CONTAINER_EXITED',
      exitCode: 1,
      pod: { name: 'etcd-host', namespace: 'kube-system' },
    },
  ]),
};
const log = (...lines: [at: string, text: string][]) => ({
  [`${M}/containers/tails/etcd-${ID}.log`]: lines
    .map(([at, text]) => `2026-11-21T${at}.000000000Z stderr F ${text}\n`)
    .join(''),
});

t.test('the error that a container ended with, not one of 20 minutes before', async (t) => {
  const old = '{"level":"error","msg":"an old error"}';
  const recent = shownBy('static-pod-crash-looping', {
    ...looping,
    ...log(
      ['14:59:00', old],
      ['15:18:58', '{"level":"panic","msg":"the cause"}'],
      ['15:19:00', 'bye'],
    ),
  });
  t.match(recent, /the cause/);
  t.notMatch(recent, /an old error/);
  const late = shownBy('static-pod-crash-looping', {
    ...looping,
    ...log(['14:59:00', old], ['15:19:00', 'received signal; shutting down']),
  });
  t.match(late, /received signal/, 'else its last line');
  t.notMatch(late, /an old error/);
});

t.test('what a kubelet without a Node says now', async (t) => {
  const files = (at: string) => ({
    'resources/nodes.json': list(),
    [`${M}/systemd/show.txt`]: shown('kubelet.service', 'active', 'running'),
    [`${M}/journals/kubelet.log`]: line(at, 'Unable to register node with API server'),
  });
  t.match(shownBy('kubelet-not-registered', files('15:19:00')), /Unable to register/);
  const old = shownBy('kubelet-not-registered', files('15:00:00'));
  t.match(old, /kubelet\.service/);
  t.notMatch(old, /Unable to register/);
});

t.test('what a kubelet and a unit said when they went down', async (t) => {
  const since = 'Sat 2026-11-21 15:10:00 UTC';
  const failed = (unit: string) => ({
    [`${M}/systemd/show.txt`]: shown(unit, 'failed', 'failed', { since, result: 'exit-code' }),
  });
  const kubelet = shownBy('kubelet-down', {
    ...failed('kubelet.service'),
    [`${M}/journals/kubelet.log`]:
      line('14:45:00', 'E1121 14:45:00.000001 1 run.go:1] an old one') +
      line('15:09:59', 'E1121 15:09:59.000001 1 run.go:1] the cause'),
  });
  t.match(kubelet, /the cause/);
  t.notMatch(kubelet, /an old one/);
  const unit = shownBy('unit-failed', {
    ...failed('a.service'),
    [`${M}/journals/errors.jsonl`]:
      error('14:45:00', 'an old one') + error('15:09:59', 'the cause'),
  });
  t.match(unit, /the cause/);
  t.notMatch(unit, /an old one/);
});

t.test('etcd complains of clocks for as long as they differ', async (t) => {
  const said = (at: string) => ({ ...looping, ...log([at, 'prober found high clock drift']) });
  t.match(shownBy('clock-skew', said('15:18:00')), /clock drift/);
  t.equal(shownBy('clock-skew', said('15:00:00')), '');
});

t.test(
  'the first write that failed since the disk is full, not when it was full before',
  async (t) => {
    const said = (at: string) =>
      `${at}.000000+0000 host containerd[9]: write /var/${at}: no space left on device\n`;
    const text = shownBy('disk-full', {
      [`${M}/disks/df.json`]: json([
        { target: '/', source: '/dev/vda4', type: 'xfs', sizeBytes: 1e9, availableBytes: 0 },
      ]),
      [`${M}/journals/containerd.log`]: said('2026-11-01T10:00:00') + said('2026-11-21T15:02:00'),
      [`${M}/journals/kubelet.log`]: said('2026-11-21T09:00:00') + said('2026-11-21T15:01:00'),
    });
    t.match(text, /write \/var\/2026-11-21T09/);
    t.notMatch(text, /2026-11-01/);
  },
);

t.test('what was said with a clock that was ahead is not what happens now', async (t) => {
  const pull = (at: string) =>
    `${at}+00:00 host kubelet[1]: "PullImage from image service failed" err="x" image="a:${at}"\n`;
  const said = (...times: string[]) => ({
    [`${M}/journals/kubelet.log`]: times.map(pull).join(''),
  });
  const ahead = '2026-11-22T15:19:00';
  t.equal(shownBy('image-pull-failing', said(ahead)), '');
  const both = shownBy('image-pull-failing', said(ahead, '2026-11-21T15:19:00'));
  t.match(both, /a:2026-11-21/);
  t.notMatch(both, /a:2026-11-22/);
  const full = shownBy('disk-full', {
    [`${M}/disks/df.json`]: json([
      { target: '/', source: '/dev/vda4', type: 'xfs', sizeBytes: 1e9, availableBytes: 0 },
    ]),
    [`${M}/journals/containerd.log`]: `${ahead}.000000+0000 host a[9]: no space left on device\n`,
  });
  t.notMatch(full, /no space left/);
});
