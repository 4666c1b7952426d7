import t from 'tap';
import { compareMinors } from '../../../lib/base/minor.ts';
import {
  hostDemands,
  INSTALLED_MINORS,
  judgeVersions,
  SUPPORTED_KUBERNETES,
  type VersionUse,
} from '../../../lib/payload/supported.ts';

const verdict = (kubernetes: string, etcd: string, use: VersionUse = 'install') => {
  const { refused, untested } = judgeVersions({ kubernetes, etcd }, use);
  if (refused.length > 0) return 'refused';
  return untested.length > 0 ? 'untested' : 'supported';
};

t.test('the table is in order, and each row goes with what it was run with', async (t) => {
  const minors = SUPPORTED_KUBERNETES.map(({ minor }) => minor);
  t.strictSame(minors, minors.toSorted(compareMinors));
  for (const { minor, etcd, ranWith } of SUPPORTED_KUBERNETES) {
    t.ok(ranWith.kubernetes.startsWith(`${minor}.`), minor);
    const ran = ranWith.etcd.map((version) => version.replace(/\.\d+$/, ''));
    t.strictSame(ran, etcd, `etcd of ${minor}`);
  }
});

t.test('a version is judged by its minor version alone', async (t) => {
  for (const [kubernetes, etcd, expected] of [
    ['v1.37.2', 'v3.7.3', 'supported'],
    ['v1.37.99', 'v3.6.0', 'supported'],
    ['v1.36.0-rc.1', 'v3.6.16', 'supported'],
    ['v1.35.4+k3s1', 'v3.6.16', 'supported'],
    ['v1.38.0', 'v3.7.3', 'untested'],
    ['v2.0.0', 'v3.7.3', 'untested'],
    ['v1.37.2', 'v3.8.0', 'untested'],
    ['v1.38.0', 'v3.8.0', 'untested'],
    ['v1.36.3', 'v3.7.3', 'untested'],
    ['v1.34.4', 'v3.6.8', 'untested'],
    ['v1.37.2', 'v3.5.21', 'refused'],
    ['v1.38.0', 'v3.5.21', 'refused'],
    ['v1.34.4', 'v3.5.21', 'refused'],
    ['v1.33.9', 'v3.6.8', 'refused'],
    ['v1.9.0', 'v3.6.8', 'refused'],
    ['v0.99.0', 'v3.6.8', 'refused'],
  ] as const) {
    t.equal(verdict(kubernetes, etcd), expected, `${kubernetes} with etcd ${etcd}`);
  }
});

t.test('hosts that have 1.34 go on with it', async (t) => {
  t.equal(verdict('v1.34.4', 'v3.6.8', 'run'), 'supported');
  t.equal(verdict('v1.34.4', 'v3.7.3', 'run'), 'untested');
  t.equal(verdict('v1.33.4', 'v3.6.8', 'run'), 'refused');
  t.strictSame(INSTALLED_MINORS, ['1.35', '1.36', '1.37']);
});

t.test('what is refused or untested has its reason, and what to use', async (t) => {
  const judged = (kubernetes: string, etcd: string, use: VersionUse = 'install') =>
    judgeVersions({ kubernetes, etcd }, use);
  t.strictSame(judged('v1.33.1', 'v3.6.8'), {
    refused: [
      'Kubernetes v1.33.1 is older than 1.34, the oldest that this release runs: use 1.35, 1.36 or 1.37',
    ],
    untested: [],
    notices: [],
  });
  t.strictSame(judged('v1.38.0', 'v3.6.16').untested, [
    'this release has not been run with Kubernetes 1.38: use 1.35, 1.36 or 1.37, or a later release',
  ]);
  t.strictSame(judged('v1.36.3', 'v3.7.3').untested, [
    'Kubernetes 1.36 has not been run with etcd 3.7: use etcd 3.6',
  ]);
  const leaving =
    'Kubernetes 1.34, which upstream supports until 2026-10-27, is no longer installed; hosts that have it keep working and can be updated: use 1.35, 1.36 or 1.37';
  t.strictSame(judged('v1.34.4', 'v3.6.8').untested, [leaving]);
  t.strictSame(judged('v1.34.4', 'v3.6.8', 'run').notices, [leaving]);
});

t.test('what a kubelet demands of its host', async (t) => {
  for (const [version, cgroupV1, runtimeConfig, verifiesPulls] of [
    ['v1.34.4', 'accepted', 'optional', false],
    ['v1.35.0', 'on-request', 'optional', true],
    ['v1.37.2', 'on-request', 'optional', true],
    ['v1.38.0', 'on-request', 'required', true],
    ['v2.0.0', 'on-request', 'required', true],
  ] as const) {
    t.strictSame(hostDemands(version), { cgroupV1, runtimeConfig, verifiesPulls }, version);
  }
});
