import { createHash } from 'node:crypto';
import { linkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { walkOfHost } from '../../../../agents/steps/search-host.ts';
import { verifyClean } from '../../../../agents/steps/verify-clean.ts';
import { newEcKey, plantedKey, tooManyStreams } from '../../secrets/key-scan-forms.ts';
import { type TestHost, testHost } from '../host/host.ts';

const gone = plantedKey('gone', newEcKey());
const other = plantedKey('other', newEcKey());
const pem = gone.forms['PEM, PKCS#8'] ?? Buffer.alloc(0);

/** Of an empty file. */
const EMPTY_SHA256 = createHash('sha256').digest('hex');

/** An installed host without leftovers. */
function host(t: Test, entries: readonly string[] = ['/etc/gone.conf']): TestHost {
  const it = testHost(t);
  it.write('/etc/kubernetes/pki/other.key', other.forms['PEM, PKCS#8'] ?? '');
  it.write('/var/log/messages', 'nothing\n'.repeat(1000));
  it.write(
    '/etc/sno-agents/leftovers.json',
    JSON.stringify({
      entries: entries.map((path) => ({
        path,
        sha256: EMPTY_SHA256,
        why: 'test',
        when: 'steady-state',
      })),
      goneKeys: [gone.fingerprint],
    }),
  );
  return it;
}

t.test('a clean host', async (t) => {
  const it = host(t);
  t.equal(await it.holds(verifyClean), true);
  t.same(await it.run(verifyClean), {
    kind: 'done',
    note: '1 paths deleted; searched 3 files, 0 MB, 1 private keys',
  });
});

t.test(
  'a file of the ledger still exists; one changed by another program was handed over',
  async (t) => {
    const gone = ['/etc/gone.conf', '/etc/gone-too.conf'];
    const it = host(t, [...gone, '/etc/own.conf', '/etc/link', '/etc/none']);
    for (const path of gone) it.write(path);
    it.write('/etc/own.conf', 'not what the bootstrap installed');
    symlinkSync('/nowhere', it.at('/etc/link'));
    t.equal(await it.holds(verifyClean), false);
    t.match(await it.failureOf(verifyClean), {
      kind: 'fatal',
      code: 'leftover-remains',
      message: `still exist: ${gone.join(', ')}; expected none`,
    });
  },
);

t.test('a missing ledger proves nothing', async (t) => {
  const it = host(t);
  it.remove('/etc/sno-agents/leftovers.json');
  t.equal(await it.holds(verifyClean), false);
  t.match(await it.failureOf(verifyClean), { kind: 'fatal', code: 'leftover-remains' });
});

t.test('the key in every form, all over the host', async (t) => {
  const it = host(t);
  const folders = ['/etc/a b', '/var/lib/etcd/member', '/opt/x', '/root', '/home'];
  folders.push('/boot/ignition', '/srv', '/usr/local/etc', '/tmp', '/var/lib/kubelet/pods/1');
  const planted = Object.values(gone.forms).map((contents, index) => {
    const path = `${folders[index % folders.length]}/file-${index}`;
    it.write(path, contents);
    return path;
  });
  t.ok(planted.length >= 12);
  for (const [index, contents] of Object.values(other.forms).entries()) {
    it.write(`/etc/other/${index}`, contents);
  }
  const { kind, code, message } = await it.failureOf(verifyClean);
  t.same([kind, code], ['fatal', 'leftover-remains']);
  const named = message.replace(/^.* is in /, '').replace(/; expected.*/, '');
  t.strictSame(named.split(', '), planted.sort());
  t.notMatch(message, gone.fingerprint);
});

t.test('each exempt place, and a similar one that is not exempt', async (t) => {
  const digest = createHash('sha256').update(pem).digest('hex');
  const payload = `
apiVersion: sno-agents/v1
kind: Payload
architecture: amd64
versions: { kubernetes: v1.34.4, etcd: v3.6.8 }
images:
  - { name: etcd, reference: 'registry.k8s.io/etcd:3.6.8-0', id: 'sha256:${digest}', archive: images/etcd.tar, size: 1, sha256: ${digest} }
binaries:
  - { name: kubelet, file: bin/kubelet, size: 1, sha256: ${digest} }
  - { name: kubectl, file: bin/kubectl, size: 1, sha256: ${digest} }
  - { name: bridge, kind: cni, file: cni/bridge, size: 1, sha256: ${digest} }
`;
  const snapshots = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots';
  const it = host(t);
  it.write('/var/lib/sno-agents/payload/payload.yaml', payload);
  it.write(
    '/proc/self/mountinfo',
    `1 2 0:3 / /run/x rw - overlay overlay rw,lowerdir=${snapshots}/1/fs,upperdir=${snapshots}/3/fs,workdir=${snapshots}/3/work\n`,
  );
  const exempt = [
    '/var/lib/sno-agents/payload/images/etcd.tar',
    '/var/lib/sno-agents/bin/kubelet',
    '/opt/cni/bin/bridge',
    `${snapshots}/1/fs/key`,
    '/var/lib/containerd/io.containerd.content.v1.content/blobs/sha256/1',
    '/var/lib/containers/storage/overlay/1/diff/key',
    '/usr/share/key',
    '/run/key',
  ];
  for (const path of exempt) it.write(path, pem);
  t.match(await it.run(verifyClean), { kind: 'done' });
  const searched = [
    '/var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db',
    `${snapshots}/3/fs/key`,
    '/var/lib/containers/storage/overlay-containers/1/userdata/key',
    '/var/lib/sno-agents/payload/images/unknown.tar',
  ];
  for (const path of searched) it.write(path, pem);
  const changed = '/var/lib/sno-agents/bin/kubectl';
  it.write(changed, Buffer.concat([pem, Buffer.from('other contents than the payload has')]));
  searched.push(changed, '/var/lib/sno-agents/bin/other');
  it.write('/var/lib/sno-agents/bin/other', pem);
  const { message } = await it.failureOf(verifyClean);
  for (const path of searched) t.match(message, path);
  for (const path of exempt) t.notMatch(message, path);
});

t.test('links are not followed, and a file with two hard links is read once', async (t) => {
  const it = host(t);
  const outside = t.testdir({ key: pem });
  symlinkSync(join(outside, 'key'), it.at('/etc/key'));
  symlinkSync(outside, it.at('/var/outside'));
  symlinkSync(outside, it.at('/opt'));
  linkSync(it.at('/var/log/messages'), it.at('/var/log/messages.1'));
  t.match(await it.run(verifyClean), { kind: 'done', note: / 3 files, / });
});

t.test('the event loop is not blocked, and the signal ends the search', async (t) => {
  const it = host(t);
  for (let index = 0; index < 8; index++) {
    it.write(`/var/big/${index}`, Buffer.alloc(16 << 20, 'text. '));
  }
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  t.match(await it.run(verifyClean), { note: / 11 files, 134 MB, / });
  clearInterval(timer);
  t.ok(turns > 8, `the loop went round at least once for each file: ${turns}`);
  const reason = new Error('told to stop');
  const stop = new AbortController();
  setImmediate(() => stop.abort(reason));
  await t.rejects(verifyClean.run(it.context, it.progress(stop.signal)), reason);
});

t.test('the executable is exempt only by its digest', async (t) => {
  const it = host(t);
  const path = '/var/lib/sno-agents/bin/sno-agents';
  it.write(path, pem);
  const { message } = await it.failureOf(verifyClean);
  t.match(message, path, 'another digest than the description states');
  const executableSha256 = createHash('sha256').update(pem).digest('hex');
  const known = { ...it.context, cluster: { ...it.context.cluster, executableSha256 } };
  t.match(await verifyClean.run(known, it.progress()), { kind: 'done' });
});

t.test('files that were only partly searched are named in warnings', async (t) => {
  const it = host(t);
  const paths = ['/boot/archive', '/var/archive'];
  for (const path of paths) it.write(path, tooManyStreams);
  t.match(await it.run(verifyClean), { kind: 'done' });
  t.same(it.lines.join('').match(/(?<=Searched only a part of )\S+(?=:)/g), paths);
});

t.test('which files are searched', async (t) => {
  const { paths } = host(t);
  const verified = paths.at('/var/lib/sno-agents/payload/images/etcd.tar');
  const walk = walkOfHost(paths, new Set([verified]), ['/var/lib/containers/x/diff']);
  t.equal(walk.root, paths.root);
  const folders = ['/etc', '/var', '/opt', '/root', '/home', '/boot', '/srv', '/usr/local', '/tmp'];
  t.strictSame(walk.folders, [...folders, '/var/lib/containers/x/diff'].map(paths.at));
  const table: [path: string, exempt: boolean, oneDevice: boolean][] = [
    ['/var/lib/sno-agents/payload/images/etcd.tar', true, false],
    ['/var/lib/sno-agents/payload/images/other.tar', false, false],
    ['/var/lib/containerd/io.containerd.content.v1.content', true, false],
    ['/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs', true, false],
    ['/var/lib/containerd/io.containerd.metadata.v1.bolt', false, false],
    ['/var/lib/containers/storage/overlay', true, false],
    ['/var/lib/containers/storage/overlay-images', false, false],
    ['/mnt/var/lib/containers/storage/overlay', false, false],
    ['/var/lib/kubelet/pods/1/volumes', false, true],
    ['/var/lib/kubelet/plugins/csi/mount', false, true],
    ['/var/lib/kubelet/pki', false, false],
    ['/var/lib/etcd', false, false],
    ['/mnt/var/lib/kubelet/pods/1', false, false],
  ];
  for (const [path, exempt, oneDevice] of table) {
    t.equal(walk.exempt(paths.at(path)), exempt, `${path}: exempt`);
    t.equal(walk.oneDevice(paths.at(path)), oneDevice, `${path}: its own device only`);
  }
});
