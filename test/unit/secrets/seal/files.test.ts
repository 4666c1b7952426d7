import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, symlinkSync } from 'node:fs';
import t, { type Test } from 'tap';
import { removeOverwritten } from '../../../../lib/host/files.ts';
import { KEY_BYTES, unsealed } from '../../../../lib/secrets/seal/envelope.ts';
import {
  makeFolder,
  readSecret,
  removeKeptFile,
  sealKey,
  writeKeptFiles,
  writeSecret,
} from '../../../../lib/secrets/seal/files.ts';
import { testHost } from '../../agents/host/host.ts';

const KEY = '/etc/kubernetes/pki/etcd/server.key';
const COPY = `/var/lib/sno-agents/sealed/files${KEY}`;
const SECRET = '/var/lib/sno-agents/sno-rotate/staged.json';

/** A sealed host, opened at this boot. */
function sealedHost(t: Test) {
  const host = testHost(t);
  const key = randomBytes(KEY_BYTES);
  host.write('/var/lib/sno-agents/sealed/key.cred', 'a credential', 0o600);
  host.write('/run/sno-agents/sealed/key', key, 0o600);
  return { host, key, bytes: (path: string) => readFileSync(host.at(path)) };
}

t.test('on a host that is not sealed, files are written as they are', async (t) => {
  const { paths, ...host } = testHost(t);
  const at = paths.at;
  t.equal(await sealKey(paths), undefined);
  await makeFolder(paths, '/etc/kubernetes/pki/etcd', 0o700);
  await writeKeptFiles(paths, [{ path: KEY, contents: 'a key', mode: 0o600 }]);
  await writeSecret(paths, at(SECRET), 'secret');
  t.equal(readFileSync(at(KEY), 'utf8'), 'a key');
  t.equal(readFileSync(at(SECRET), 'utf8'), 'secret');
  t.equal(await readSecret(paths, at(SECRET)), 'secret');
  t.equal(await removeKeptFile(paths, KEY), true);
  t.equal(await removeKeptFile(paths, KEY), false);
  t.ok(host);
});

t.test('on a sealed host, the disk has a sealed copy, which is written first', async (t) => {
  const { host, key, bytes } = sealedHost(t);
  const { paths } = host;
  await makeFolder(paths, '/etc/kubernetes/pki/etcd', 0o700);
  t.equal(host.mode('/var/lib/sno-agents/sealed/files/etc/kubernetes/pki/etcd'), 0o700);
  await writeKeptFiles(paths, [
    { path: KEY, contents: 'a key', mode: 0o600 },
    { path: '/etc/kubernetes/kube-scheduler/kubeconfig', contents: 'no key', mode: 0o600 },
  ]);
  t.equal(host.read(KEY), 'a key');
  t.equal(unsealed(key, KEY, bytes(COPY))?.toString(), 'a key');
  t.equal(host.mode(COPY), 0o600);
  t.notOk(host.has('/var/lib/sno-agents/sealed/files/etc/kubernetes/kube-scheduler'));
  // A place that cannot be written: the copy is there before.
  host.write('/etc/kubernetes/pki/file', '');
  const path = '/etc/kubernetes/pki/file/x.key';
  await t.rejects(writeKeptFiles(paths, [{ path, contents: 'another', mode: 0o600 }]));
  t.ok(host.has(`/var/lib/sno-agents/sealed/files${path}`));
  t.equal(await removeKeptFile(paths, KEY), true);
  t.notOk(host.has(COPY));
  t.notOk(host.has(KEY));
  host.write(COPY, 'of a process that was killed in between');
  t.equal(await removeKeptFile(paths, KEY), true);
  t.notOk(host.has(COPY));
});

t.test('files of the agents with keys are sealed where they are', async (t) => {
  const { host, bytes } = sealedHost(t);
  const { paths } = host;
  await writeSecret(paths, host.at(SECRET), 'a staged key');
  t.notOk(bytes(SECRET).includes('a staged key'));
  t.equal(host.mode(SECRET), 0o600);
  t.equal(await readSecret(paths, host.at(SECRET)), 'a staged key');
  t.equal(await readSecret(paths, host.at('/nothing')), undefined);
  host.write('/moved', bytes(SECRET));
  t.equal(await readSecret(paths, host.at('/moved'), SECRET), 'a staged key');
  await t.rejects(readSecret(paths, host.at('/moved')), {
    code: 'sealed-file-damaged',
    message: /^\/moved cannot be opened with the key of this host/,
  });
  host.write('/clear', 'written before it was sealed');
  t.equal(await readSecret(paths, host.at('/clear')), 'written before it was sealed');
});

t.test('where a sealed host was not opened, nothing is written in the clear', async (t) => {
  const { host } = sealedHost(t);
  const { paths } = host;
  await writeSecret(paths, host.at(SECRET), 'a staged key');
  for (const damage of [
    () => host.remove('/run/sno-agents/sealed/key'),
    () => host.write('/run/sno-agents/sealed/key', 'cut'),
  ]) {
    damage();
    const closed = { kind: 'fatal', code: 'seal-closed', message: /not opened at this boot/ };
    await t.rejects(sealKey(paths), closed);
    const file = { path: KEY, contents: 'a key', mode: 0o600 };
    await t.rejects(writeKeptFiles(paths, [file]), closed);
    await t.rejects(makeFolder(paths, '/etc/kubernetes/pki', 0o700), closed);
    await t.rejects(writeSecret(paths, host.at('/new'), 'a key'), closed);
    await t.rejects(readSecret(paths, host.at(SECRET)), closed);
  }
  t.notOk(host.has(KEY));
  t.notOk(host.has('/new'));
  t.notOk(host.has('/etc/kubernetes/pki'));
});

t.test('a file is deleted and overwritten where it was, and a link is not followed', async (t) => {
  const host = testHost(t);
  const large = 'in the clear'.repeat(200_000);
  host.write('/key', large);
  // Another name of the same place on the disk.
  linkSync(host.at('/key'), host.at('/place'));
  symlinkSync(host.at('/key'), host.at('/link'));
  t.equal(await removeOverwritten(host.at('/link')), true);
  t.notOk(host.has('/link'));
  t.ok(host.read('/key') === large, 'its target is as it was');
  t.equal(await removeOverwritten(host.at('/key')), true);
  t.notOk(host.has('/key'));
  t.ok(host.read('/place') === '\0'.repeat(large.length), 'zeros, to its end');
  t.equal(await removeOverwritten(host.at('/key')), false);
});
