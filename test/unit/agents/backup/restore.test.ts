import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { withPresentFiles } from '../../../../agents/steps/read-once.ts';
import { withProvidersOf } from '../../../../agents/steps/restore/encryption.ts';
import { rebuild } from '../../../../agents/steps/restore/rebuild.ts';
import { replace } from '../../../../agents/steps/restore/replace.ts';
import { concludeRestore } from '../../../../agents/upkeep/backup/restore/conclude.ts';
import { startRestored } from '../../../../agents/upkeep/backup/restore/start.ts';
import { stopForRestore } from '../../../../agents/upkeep/backup/restore/stop.ts';
import { undo } from '../../../../agents/upkeep/backup/restore/undo.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { recordFailure } from '../../../../lib/change/change.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import { lockAgent } from '../../../../lib/engine/steps/lock.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { stopUnit } from '../../../../lib/host/systemd.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { isSealed, sealed } from '../../../../lib/secrets/seal/envelope.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { fakeApi, refuse } from '../host/api.ts';
import type { TestHost } from '../host/host.ts';
import { STOPPED } from '../host/kubelet-unit.ts';
import { seal } from '../host/sealed.ts';
import {
  COMPONENTS,
  database,
  ENCRYPTION,
  podFile,
  podText,
  providers,
  REPLACED,
  restoringHost,
} from './backup-host.ts';

const REBUILT = '/var/lib/etcd.rebuilt';
const { certificate: CERTIFICATE } = authorityPaths('admin');
const BROKEN = new Failure('fatal', 'broken by the test');
const placed = (host: TestHost) => COMPONENTS.filter((name) => host.has(podFile(name)));

t.test('the database is rebuilt beside the one in use, with bumped revisions', async (t) => {
  const { host, run, holds } = await restoringHost(t);
  t.equal(await holds(rebuild), false);
  await run(rebuild);
  t.equal(await holds(rebuild), true);
  t.equal(host.read(`${REBUILT}/member/snap/db`), 'a snapshot');
  t.equal(database(host), 'the present database');
  t.match(host.read('/etcdutl-calls'), /--bump-revision 1000000000 --mark-compacted\n$/);
  t.strictSame(placed(host), [...COMPONENTS], 'the control plane goes on');
});

t.test('a backup that changed since the request is refused', async (t) => {
  const { host, run, folder } = await restoringHost(t);
  appendFileSync(join(folder, 'etcd-snapshot.db'), 'x');
  t.match(await thrownBy(run(rebuild)), { code: 'backup-unusable' });
  t.notOk(host.has(REBUILT));
});

t.test('a restore begins when no backup is made and no certificate renewed', async (t) => {
  const { host, run } = await restoringHost(t);
  for (const agent of ['sno-backup', 'sno-renew']) {
    using _lock = await lockAgent(agent, host.root);
    t.match(await run(rebuild), { kind: 'not-yet', reason: `${agent} is running` });
  }
  t.notOk(host.has(REBUILT));
  t.match(await run(rebuild), { kind: 'done' });
});

t.test('the control plane is stopped, clients first, and its manifests are kept', async (t) => {
  const { host, run, holds } = await restoringHost(t);
  t.equal(await holds(stopForRestore), false);
  await run(stopForRestore);
  t.equal(await holds(stopForRestore), true);
  const moved = '/var/lib/sno-agents/sno-backup-restore/manifests';
  t.equal(host.read(`${moved}/etcd-pod.yaml`), podText('etcd'));
  t.equal(readdirSync(host.at(moved)).length, COMPONENTS.length);
  t.ok(host.has('/etc/kubernetes/manifests/other.yaml'), 'another static pod goes on');
  const waits = host.lines.join('');
  t.match(
    waits,
    /kube-controller-manager, kube-scheduler to stop[\s\S]*kube-apiserver to stop[\s\S]*etcd to stop/,
  );
  await run(stopForRestore);
  t.equal(await holds(stopForRestore), true, 'again');
});

t.test('containers that still run are not stopped, whatever their manifests', async (t) => {
  const { host, holds } = await restoringHost(t);
  await stopUnit('kubelet.service', new AbortController().signal);
  for (const name of COMPONENTS) host.remove(podFile(name));
  t.equal(await holds(stopForRestore), false);
  for (const name of COMPONENTS) host.write(`${STOPPED}id-of-${name}`);
  t.equal(await holds(stopForRestore), true);
});

t.test('an etcdutl that hangs does not outlive the step', async (t) => {
  const { host, context } = await restoringHost(t);
  host.write('/var/lib/sno-agents/bin/etcdutl', '#!/bin/sh\nexec sleep 600\n', 0o755);
  const progress = host.progress(AbortSignal.timeout(300_000), 3000);
  t.match(await thrownBy(rebuild.run(context, progress)), { kind: 'deadline' });
  t.notOk(host.has(REBUILT));
});

t.test('nothing is stopped if a manifest is missing, and the restore ends', async (t) => {
  const { host, context, run, holds } = await restoringHost(t);
  host.remove(podFile('etcd'));
  t.match(await thrownBy(run(stopForRestore)), { kind: 'fatal', message: /no static pod of etcd/ });
  t.equal(placed(host).length, 3);
  await recordFailure(restoreChange, context.paths, failureData(BROKEN));
  t.match(await run(undo), { note: 'nothing was changed' });
  t.equal(await holds(undo), true);
  t.same(host.programs.calls('systemctl restart'), [], 'the kubelet is not restarted');
});

t.test('a stop that only stopped the kubelet is undone', async (t) => {
  const { host, context, run, holds } = await restoringHost(t);
  await stopUnit('kubelet.service', new AbortController().signal);
  await recordFailure(restoreChange, context.paths, failureData(BROKEN));
  t.equal(await holds(undo), false);
  await run(undo);
  t.equal(host.programs.calls('systemctl').at(-1), 'systemctl restart kubelet.service');
  t.equal(await holds(undo), true);
});

t.test('a stop that was interrupted is undone', async (t) => {
  const { host, context, run, holds } = await restoringHost(t);
  await run(stopForRestore);
  for (const name of ['etcd', 'kube-apiserver']) host.write(podFile(name), podText(name));
  await recordFailure(restoreChange, context.paths, failureData(BROKEN));
  t.equal(await holds(undo), false);
  await run(undo);
  t.equal(await holds(undo), true);
  t.strictSame(placed(host), [...COMPONENTS]);
});

t.test('keys of the backup of a sealed host are put back, and sealed again', async (t) => {
  const { host, context, run, folder } = await restoringHost(t);
  const { key, afterBoot } = seal(host);
  const place = '/etc/kubernetes/pki/ca/etcd/ca.key';
  const copies: Readonly<Record<string, string>> = {
    [`host${ENCRYPTION}`]: providers('other'),
    [`host${place}`]: 'the key of etcd',
  };
  const { files, ...manifest } = writeBackup(folder, copies);
  const resealed = files.map((file) => {
    if (file.host === undefined) return file;
    const bytes = sealed(key, file.host, copies[file.path] ?? '');
    writeFileSync(join(folder, file.path), bytes);
    return { ...file, bytes: bytes.length, sha256: sha256(bytes) };
  });
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, files: resealed }));
  await run(rebuild);
  await run(replace);
  t.equal(host.read(place), 'the key of etcd');
  t.equal(afterBoot(place), 'the key of etcd');
  t.match(host.read(ENCRYPTION), /present.*other/s, 'both keys are read');
  t.equal(afterBoot(ENCRYPTION), host.read(ENCRYPTION));
  const saved = readFileSync(host.at('/var/lib/sno-agents/sno-backup-restore/encryption.yaml'));
  t.ok(isSealed(saved), 'that from before is sealed');
  await recordFailure(restoreChange, context.paths, failureData(BROKEN));
  await run(undo);
  t.equal(host.read(ENCRYPTION), providers('present'));
  t.equal(afterBoot(ENCRYPTION), providers('present'));
});

/** States of `replace`, by where it was killed. */
const interrupted: [title: string, before: (host: TestHost) => void][] = [
  ['not begun', () => {}],
  ['the present one is put aside', (host) => move(host, '/var/lib/etcd', REPLACED)],
  [
    'both are renamed',
    (host) => {
      move(host, '/var/lib/etcd', REPLACED);
      move(host, REBUILT, '/var/lib/etcd');
    },
  ],
];
const move = (host: TestHost, from: string, to: string) => renameSync(host.at(from), host.at(to));
for (const [title, before] of interrupted) {
  t.test(`the database is replaced: ${title}`, async (t) => {
    const { host, run, holds } = await restoringHost(t);
    await run(rebuild);
    before(host);
    t.equal(await holds(replace), !host.has(REBUILT));
    await run(replace);
    t.equal(await holds(replace), true);
    t.equal(database(host), 'a snapshot');
    t.equal(host.read(`${REPLACED}/member/snap/db`), 'the present database');
    t.notOk(host.has(REBUILT));
  });
  t.test(`and put back after a failure: ${title}`, async (t) => {
    const { host, context, run, holds } = await restoringHost(t);
    await run(rebuild);
    await run(stopForRestore);
    before(host);
    await recordFailure(restoreChange, context.paths, failureData(BROKEN));
    t.equal(await holds(undo), false);
    await run(undo);
    t.equal(await holds(undo), true);
    t.equal(database(host), 'the present database');
    for (const path of [REBUILT, REPLACED, '/var/lib/etcd.discarded'])
      t.notOk(host.has(path), path);
    t.strictSame(placed(host), [...COMPONENTS]);
    t.equal(host.programs.calls('systemctl restart').length, 1);
  });
}

t.test(
  'keys: missing files are put back, others stay, Secrets can be read with both',
  async (t) => {
    const { host, context, run, folder } = await restoringHost(t);
    const files = {
      [`host${ENCRYPTION}`]: providers('older'),
      'host/etc/kubernetes/pki/ca/etcd/ca.key': 'the key of etcd',
      'host/etc/kubernetes/pki/ca/etcd/ca.crt': 'of the backup',
      'host/etc/kubernetes/pki/ca/front-proxy/ca.key': 'in a folder that is gone',
      [`host${CERTIFICATE}`]: 'the certificate of administrators',
    };
    const listed = writeBackup(folder, files).files.map((file) =>
      file.host?.endsWith('.crt') === true ? { ...file, mode: 0o644 } : file,
    );
    writeBackup(folder, files, { files: listed });
    host.write('/etc/kubernetes/pki/ca/etcd/ca.crt', 'renewed since');
    await run(rebuild);
    await run(replace);
    t.equal(host.read('/etc/kubernetes/pki/ca/etcd/ca.key'), 'the key of etcd');
    t.equal(host.mode('/etc/kubernetes/pki/ca/etcd/ca.key'), 0o600);
    t.ok(host.has('/etc/kubernetes/pki/ca/front-proxy/ca.key'));
    t.equal(host.mode('/etc/kubernetes/pki/ca/front-proxy'), 0o700);
    t.equal(host.read('/etc/kubernetes/pki/ca/etcd/ca.crt'), 'renewed since');
    t.equal(host.read(CERTIFICATE), 'the certificate of administrators');
    t.equal(host.mode(CERTIFICATE), 0o644, 'others read it');
    t.match(host.read(ENCRYPTION), /present[\s\S]*older/);
    t.equal(host.mode(ENCRYPTION), 0o600);
    await recordFailure(restoreChange, context.paths, failureData(BROKEN));
    await run(undo);
    t.equal(host.read(ENCRYPTION), providers('present'));
    t.equal(host.mode(ENCRYPTION), 0o600, 'also when it is put back');
  },
);

t.test(
  'control plane and kubelet are started anew, without the Leases of old leaders',
  async (t) => {
    const { host, run, holds } = await restoringHost(t, { settings: {} });
    await run(stopForRestore);
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    const ready = () => ({});
    let isReady = true;
    const { requests } = await fakeApi(t, host, {
      'GET /readyz': () => (isReady ? {} : refuse(500)),
      [`DELETE ${lease}/kube-controller-manager`]: ready,
      [`DELETE ${lease}/kube-scheduler`]: ready,
    });
    t.equal(await holds(startRestored), false);
    await run(startRestored);
    t.equal(await holds(startRestored), true);
    t.strictSame(placed(host), [...COMPONENTS]);
    isReady = false;
    t.equal(await holds(startRestored), false, 'the API is not ready');
    isReady = true;
    renameSync(host.at(podFile('etcd')), host.at('/etcd-pod.yaml'));
    t.equal(await holds(startRestored), false, 'one of them is not placed');
    renameSync(host.at('/etcd-pod.yaml'), host.at(podFile('etcd')));
    for (const component of COMPONENTS) {
      const manifest = host.read(podFile(component));
      t.match(manifest, /sno-agents\/read-once/);
      const fresh = await withPresentFiles(host.paths, { component, manifest });
      t.equal(fresh, manifest, `a rotation restarts ${component} for no file that is restored`);
    }
    t.equal(host.mode(podFile('etcd')), 0o600);
    t.equal(host.programs.calls('systemctl restart').length, 1);
    const deleted = requests.filter((request) => request.startsWith('DELETE'));
    t.equal(deleted.length, 2);
    t.ok(requests.indexOf('GET /readyz') < requests.indexOf(deleted[0] ?? ''), 'once it is ready');
  },
);

t.test('providers are added only if they are new', async (t) => {
  t.equal(withProvidersOf(providers('a'), providers('a')), undefined);
  t.equal(withProvidersOf(providers('b', 'a'), providers('a')), undefined);
  const both = withProvidersOf(providers('b'), providers('a', 'b')) ?? '';
  t.match(both, /kind: EncryptionConfiguration/);
  t.match(both, /secret: b[\s\S]*secret: a/, 'the present one writes');
  t.equal(both.match(/secret: b/g)?.length, 1);
  t.throws(() => withProvidersOf(providers('a'), 'x'));
});

t.test('on a host without a database, the restored one stays after a failure', async (t) => {
  const { host, context, run, folder } = await restoringHost(t);
  writeBackup(folder, {
    [`host${ENCRYPTION}`]: providers('of the backup'),
    'host/etc/kubernetes/pki/ca/etcd/ca.key': 'the key of etcd',
  });
  host.remove('/var/lib/etcd');
  await run(rebuild);
  await run(stopForRestore);
  t.match(await run(replace), { note: 'there was no database' });
  await recordFailure(restoreChange, context.paths, failureData(BROKEN));
  t.match(await run(undo), { note: /the restored database is in place/ });
  t.equal(database(host), 'a snapshot');
  t.match(host.read(ENCRYPTION), /of the backup/, 'it needs its key');
  t.strictSame(placed(host), [...COMPONENTS]);
  t.match(await thrownBy(run(concludeRestore)), {
    message: /had no database before.*restored one is in use/,
  });
});

t.test('a failure before anything was stopped disturbs nothing', async (t) => {
  const { host, context, run, holds } = await restoringHost(t);
  await recordFailure(restoreChange, context.paths, failureData(BROKEN));
  t.equal(await holds(undo), true);
  t.match(await run(undo), { note: 'nothing was changed' });
  t.same(host.programs.calls('systemctl restart'), []);
});
