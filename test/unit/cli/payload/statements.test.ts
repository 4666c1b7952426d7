import t from 'tap';
import { programStatement, releaseIn, tagStatement } from '../../../../cli/payload/statements.ts';

t.test('the release in a version', async (t) => {
  for (const [text, release] of [
    ['v1.37.2', 'v1.37.2'],
    ['1.37.2', 'v1.37.2'],
    ['v1.38.0-rc.1', 'v1.38.0-rc.1'],
    ['3.6.16-0', 'v3.6.16'],
    ['v1.34.4+k3s1', 'v1.34.4'],
    ['v1.34.4-rke2r1-build20260101', 'v1.34.4'],
    ['v1.37.2_dirty', 'v1.37.2'],
    ['v1.37', undefined],
    ['1.37.2.1', undefined],
    ['latest', undefined],
    ['sha-1.2.3', undefined],
    ['', undefined],
  ] as const) {
    t.equal(releaseIn(text), release, text);
  }
});

const kubelet = { kind: 'binary', name: 'kubelet' } as const;
const recorded = (version: string, path = 'k8s.io/kubernetes') => ({ module: { path, version } });

t.test('programs state what Go recorded of their module', async (t) => {
  t.strictSame(programStatement(kubelet, recorded('v1.37.2')), [
    { key: 'kubernetes', label: 'binary kubelet', version: 'v1.37.2' },
  ]);
  const etcd = recorded('v3.7.3', 'go.etcd.io/etcd/server/v3');
  t.strictSame(programStatement({ kind: 'image', name: 'etcd' }, etcd), [
    { key: 'etcd', label: 'image etcd', version: 'v3.7.3' },
  ]);
});

t.test('nothing is stated by what is no release, or no part with a version', async (t) => {
  for (const [what, part, program] of [
    ['built in its source tree', kubelet, {}],
    ['a commit after a release', kubelet, recorded('v1.37.3-0.20261001120000-0123456789ab')],
    ['the same, changed', kubelet, recorded('v1.37.3-0.20261001120000-0123456789ab+dirty')],
    ['a commit without a release', kubelet, recorded('v0.0.0-20261001120000-0123456789ab')],
    ['another module', kubelet, recorded('v1.4.1', 'github.com/distribution/kubelet')],
    ['another program', { kind: 'binary', name: 'kubectl' }, recorded('v1.36.0')],
    ['an image of another name', { kind: 'image', name: 'kubelet' }, recorded('v1.37.2')],
  ] as const) {
    t.strictSame(programStatement(part, program), [], what);
  }
  t.strictSame(tagStatement('pause', 'registry.k8s.io/pause:3.10.0'), []);
  t.strictSame(tagStatement('etcd', 'mirror.example.com:5000/etcd:site'), []);
});

t.test('images state their tag', async (t) => {
  t.strictSame(tagStatement('etcd', 'registry.k8s.io/etcd:3.6.16-0'), [
    { key: 'etcd', label: 'the tag of image etcd', version: 'v3.6.16' },
  ]);
});
