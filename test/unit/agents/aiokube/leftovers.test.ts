import { linkSync } from 'node:fs';
import t, { type Test } from 'tap';
import { aioLeftovers } from '../../../../agents/aiokube/leftovers.ts';
import { clean } from '../../../../agents/steps/clean.ts';
import { verifyClean } from '../../../../agents/steps/verify-clean.ts';
import { readLedger } from '../../../../lib/cluster/installation/ledger.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { type HostOptions, testHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';

const LEDGER = '/etc/sno-agents/leftovers.json';
const UNITS = '/etc/systemd/system';
const gone = [
  '/etc/sno-agents/executable-part.sha256',
  '/etc/sno-agents/executable.curl',
  '/opt/openshift/manifests/a.yaml',
  '/opt/openshift/openshift/sub/b.yaml',
  '/opt/openshift/rendered-manifests/10-ours.yaml',
  '/opt/openshift/rendered.json',
  '/opt/openshift/tls/admin-ca.key',
  `${UNITS}/dev-disk-by\\x2dlabel-sno\\x2dagents.device`,
  `${UNITS}/progress.service`,
  `${UNITS}/run-media-iso.mount`,
  `${UNITS}/sno-executable.service`,
];
const stays = [
  '/etc/kubernetes/pki/ca/admin/ca.key',
  '/etc/sno-agents/cluster.json',
  '/etc/sno-agents/executable.sha256',
  '/etc/sno-agents/render-input.json',
  `${UNITS}/aiokube.service`,
  `${UNITS}/kubelet.service`,
];

async function host(t: Test, cluster: HostOptions['cluster'] = {}) {
  const it = testHost(t, { cluster });
  for (const path of [...gone, ...stays]) it.write(path, `contents of ${path}`);
  it.programs.give('systemctl', 'case "$1" in disable|daemon-reload) ;; *) exit 97 ;; esac');
  await fakeRuntime(t, it, () => [], {});
  return it;
}

t.test('leftovers', async (t) => {
  t.test('lists what only the installation needed, with its contents', async (t) => {
    const it = await host(t);
    t.equal(await it.holds(aioLeftovers), false, 'before');
    t.same(await it.run(aioLeftovers), { kind: 'done', note: `${gone.length} files` });
    t.equal(await it.holds(aioLeftovers), true, 'after');
    t.equal(it.mode(LEDGER), 0o600);
    const ledger = await readLedger(it.paths);
    t.same(ledger?.goneKeys, [], 'no key ends with the installation');
    t.same(ledger?.entries.map(({ path }) => path).toSorted(), gone.toSorted());
    for (const entry of ledger?.entries ?? []) {
      t.equal(entry.sha256, sha256(`contents of ${entry.path}`), entry.path);
      t.equal(entry.unit, entry.path.startsWith(UNITS) ? entry.path.slice(20) : undefined);
    }
  });

  t.test('is deleted by the clean-up, and nothing else', async (t) => {
    const it = await host(t);
    await it.run(aioLeftovers);
    it.write('/opt/openshift/manifests/later.yaml', 'from somebody else');
    it.write('/opt/openshift/manifests/a.yaml', 'changed since');
    t.match(await it.run(clean), { kind: 'done' });
    t.match(await it.run(verifyClean), { kind: 'done', note: `${gone.length} paths deleted` });
    for (const path of gone.filter((each) => !each.endsWith('a.yaml'))) t.notOk(it.has(path), path);
    for (const path of [...stays, '/opt/openshift/manifests/later.yaml']) t.ok(it.has(path), path);
    t.equal(it.read('/opt/openshift/manifests/a.yaml'), 'changed since');
  });

  t.test('is overwritten on the disk', async (t) => {
    const key = '/opt/openshift/tls/admin-ca.key';
    const it = await host(t);
    // Another name of the same place on the disk.
    linkSync(it.at(key), it.at('/place'));
    await it.run(aioLeftovers);
    await it.run(clean);
    t.notOk(it.has(key));
    t.equal(it.read('/place'), '\0'.repeat(`contents of ${key}`.length));
  });

  t.test('a host without a second medium has no unit of it', async (t) => {
    const it = await host(t);
    it.remove(`${UNITS}/run-media-iso.mount`);
    it.remove('/etc/sno-agents/executable.curl');
    t.same(await it.run(aioLeftovers), { kind: 'done', note: `${gone.length - 2} files` });
  });
});
