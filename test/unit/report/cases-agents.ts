import { Failure } from '../../../lib/base/errors/failure.ts';
import {
  AIO,
  COMPLETE,
  installed,
  json,
  M,
  notFound,
  type RuleCase,
  shown,
  step,
} from './rule-case.ts';

const live = (agent: string, ...lines: string[]) => ({
  [`bootstrap/steps/${agent}.jsonl`]: lines.join(''),
});
const status = (state: string, more: object) => ({
  'bootstrap/agents/status/bootkube.json': json({
    agent: 'bootkube',
    unit: 'bootkube',
    state,
    updated: '2026-11-21T15:19:59Z',
    step: { name: 'manifests', number: 8, of: 17, attempt: 1, ...more },
  }),
});
const rejected = (file: string, reason: string) =>
  new Failure('fatal', `${file}: ${reason}`, { code: 'manifest-rejected', subject: file });
const MANIFESTS = new Failure('fatal', '2 of 10 manifests could not be applied', {
  code: 'manifests-rejected',
  found:
    '/opt/openshift/openshift/60-undecodable.yaml: a; /opt/openshift/manifests/50-rejected.yaml: b',
  fix: 'Correct the manifests.',
  parts: [
    rejected('/opt/openshift/openshift/60-undecodable.yaml', 'Flow sequence in block collection'),
    rejected(
      '/opt/openshift/manifests/50-rejected.yaml',
      'POST: 422 Service "no-ports" is invalid',
    ),
  ],
});
export const agentCases: readonly RuleCase[] = [
  {
    rule: 'manifest-rejected',
    of: 'two bad manifests',
    files: live(
      'bootkube',
      step('15:00:00', 'manifests', 'started'),
      step('15:00:02', 'manifests', 'failed', MANIFESTS),
    ),
    finds: [
      {
        severity: 'failing',
        title: /^2 of 10 manifests could not be applied/,
        todo: /60-undecodable.yaml and .*50-rejected.yaml/,
        at: 'bootstrap/steps/bootkube.jsonl:2',
      },
    ],
  },
  {
    rule: 'manifest-rejected',
    of: 'manifests that were applied at last',
    files: live(
      'bootkube',
      step('15:00:00', 'manifests', 'attempt-failed', MANIFESTS),
      step('15:00:09', 'manifests', 'done'),
    ),
  },
  {
    rule: 'disk-refused',
    of: 'a disk in use',
    files: live(
      'bootkube',
      step(
        '15:00:00',
        'inspect-disk',
        'failed',
        new Failure('fatal', '/dev/sda is in use', {
          code: 'disk-in-use',
          found: '/dev/sda1 is mounted on /mnt',
          fix: 'Unmount it with "umount /mnt". Then start bootkube.service again.',
        }),
      ),
    ),
    finds: [
      {
        severity: 'failing',
        title: /was refused: \/dev\/sda is in use/,
        todo: /^Unmount it with "umount \/mnt"\. Then/,
      },
    ],
  },
  {
    rule: 'disk-refused',
    of: 'an empty disk',
    files: live(
      'bootkube',
      step('15:00:00', 'inspect-disk', 'done', undefined, { note: '/dev/sda is empty' }),
    ),
  },
  {
    rule: 'start-refused',
    of: 'a payload that is not the right one',
    files: installed(
      'sno-payload',
      step(
        '15:00:00',
        'install-payload',
        'failed',
        new Failure('fatal', '/var/p is not the payload of this installation', {
          code: 'payload-mismatch',
          fix: 'Copy the payload from the live medium again.',
        }),
      ),
    ),
    finds: [
      {
        severity: 'failing',
        title: /sno-payload prevents the kubelet from starting, at step install-payload/,
        todo: /systemctl start kubelet bootkube/,
      },
    ],
  },
  {
    rule: 'start-refused',
    of: 'an all-in-one host whose installation has not ended',
    files: {
      ...installed('sno-payload', step('15:00:00', 'install-payload', 'failed', 'no')),
      ...installed('aiokube', step('14:00:00', 'marker', 'done')),
      ...COMPLETE,
    },
    finds: [{ severity: 'failing', title: /no$/, todo: /Then run "systemctl start aiokube"\.$/ }],
  },
  {
    rule: 'start-refused',
    of: 'an all-in-one host whose systemd did not answer',
    files: {
      ...installed('sno-payload', step('15:00:00', 'install-payload', 'failed', 'no')),
      ...AIO,
    },
    finds: [{ severity: 'failing', title: /no$/, todo: /Then run "systemctl start aiokube"\.$/ }],
  },
  {
    rule: 'start-refused',
    of: 'a host whose installation is complete: other units still name its unit',
    files: {
      ...installed('sno-payload', step('15:00:00', 'install-payload', 'failed', 'no')),
      ...COMPLETE,
      [`${M}/systemd/units.json`]: json([
        notFound('aiokube.service'),
        notFound('bootkube.service'),
      ]),
      [`${M}/systemd/show.txt`]: shown('bootkube.service', 'inactive', 'dead', {
        load: 'not-found',
      }),
    },
    finds: [{ severity: 'failing', title: /no$/, todo: /Then run "systemctl restart kubelet"\.$/ }],
  },
  {
    rule: 'start-refused',
    of: 'the same at an earlier boot',
    files: installed(
      'sno-payload',
      step('15:00:00', 'install-payload', 'failed', 'no'),
      step('15:05:00', 'install-payload', 'done'),
    ),
  },
  {
    rule: 'bootstrap-left-over',
    of: 'a key that was found',
    files: installed(
      'post-reboot',
      step(
        '15:00:00',
        'verify-clean',
        'failed',
        new Failure('fatal', 'a private key of the bootstrap is in /etc/x', {
          code: 'leftover-remains',
          fix: 'Remove the files or what in them holds the key, and start bootkube.service again.',
        }),
      ),
    ),
    finds: [
      {
        severity: 'failing',
        title: /a private key of the bootstrap is in \/etc\/x/,
        todo: /^Remove the files/,
      },
    ],
  },
  {
    rule: 'bootstrap-left-over',
    of: 'a ledger that should be gone',
    files: {
      ...COMPLETE,
      [`${M}/agents/leftovers.json`]: json({ entries: [{ path: '/x' }] }),
    },
    finds: [{ severity: 'warning', title: /recorded as finished/ }],
  },
  {
    rule: 'bootstrap-left-over',
    of: 'an installation that has not ended',
    files: { [`${M}/agents/leftovers.json`]: json({ entries: [{ path: '/x' }] }) },
  },
  {
    rule: 'step-failed',
    of: 'a step that failed permanently, and an agent that waited for it',
    files: {
      ...live(
        'bootkube',
        step(
          '15:00:00',
          'payload',
          'failed',
          new Failure('fatal', 'the payload is damaged', { fix: 'Write the live medium again' }),
        ),
      ),
      ...live(
        'install-to-disk',
        step(
          '15:00:01',
          'wait-for-bootkube',
          'failed',
          new Failure('fatal', 'nothing to install', { code: 'bootkube-failed' }),
        ),
      ),
    },
    finds: [
      {
        severity: 'failing',
        title: /^bootkube failed at step payload: the payload is damaged$/,
        todo: /^Write the live medium again/,
      },
    ],
  },
  {
    rule: 'step-failed',
    of: 'a step that is retried',
    files: live(
      'bootkube',
      step('15:00:00', 'etcd', 'attempt-failed', 'not yet'),
      step('15:00:02', 'etcd', 'started'),
    ),
    finds: [{ severity: 'warning', title: /^bootkube is retrying step etcd: not yet$/ }],
  },
  {
    rule: 'step-failed',
    of: 'steps that failed once and were done later, and a torn last line',
    files: live(
      'bootkube',
      step('15:00:00', 'etcd', 'attempt-failed', 'not yet'),
      step('15:00:02', 'etcd', 'done'),
      '{"at":"2026-11-21T15:00',
    ),
  },
  {
    rule: 'step-waiting',
    of: 'a wait that is nearly over',
    files: status('running', {
      since: '2026-11-21T15:05:00Z',
      until: '2026-11-21T15:25:00Z',
      waitingFor: 'every manifest to be accepted',
    }),
    finds: [
      {
        severity: 'warning',
        title:
          /step 8 of 17, manifests, and waits for every manifest to be accepted for 15 min, at most until 2026-11-21 15:25:00 UTC/,
      },
    ],
  },
  {
    rule: 'step-waiting',
    of: 'a wait that has just begun',
    files: status('running', {
      since: '2026-11-21T15:19:00Z',
      until: '2026-11-21T15:39:00Z',
      waitingFor: 'etcd',
    }),
    finds: [{ severity: 'note', title: /waits for etcd for 1 min/ }],
  },
  { rule: 'step-waiting', of: 'an agent that has ended', files: status('done', {}) },
];
