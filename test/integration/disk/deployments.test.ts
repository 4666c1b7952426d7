/** What an update of an ostree system leaves: /etc of the deployment before it, below a /sysroot that is mounted read-only. */
import { execFileSync } from 'node:child_process';
import { linkSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import t, { type Test } from 'tap';
import { clean } from '../../../agents/steps/clean.ts';
import { otherDeployments } from '../../../agents/steps/other-deployments.ts';
import { retireAgent } from '../../../agents/steps/retire.ts';
import { verifyClean } from '../../../agents/steps/verify-clean.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { type TestHost, testHost } from '../../unit/agents/host/host.ts';
import { fakeRuntime } from '../../unit/agents/host/runtime.ts';

const KEY = 'sno-agents/bootstrap-admin.key';
const BOOTED = '/sysroot/ostree/deploy/rhcos/deploy/b.0/etc';
const EARLIER = '/sysroot/ostree/deploy/rhcos/deploy/a.0/etc';
const OTHER = '/sysroot/ostree/deploy/fedora-coreos/deploy/c.1/etc';
/** By which the bytes of a deleted file can still be read. */
const SECOND_NAME = '/var/second-name';
const NATIVE = '/sysroot/state/deploy/0123/etc';

/** The booted deployment's /etc is mounted from /sysroot, as `ostree-prepare-root` does it. */
async function ostreeHost(t: Test) {
  const host = testHost(t, { programs: 'real' });
  const contents = `contents of ${KEY}`;
  for (const etc of [BOOTED, EARLIER, OTHER, NATIVE]) host.write(`${etc}/${KEY}`, contents, 0o600);
  host.write(`${OTHER}/${KEY}`, 'written by somebody else');
  host.write('/var/.keep');
  linkSync(host.at(`${EARLIER}/${KEY}`), host.at(SECOND_NAME));
  const entry = { path: `/etc/${KEY}`, sha256: sha256(contents), why: 'x', when: 'steady-state' };
  const ledger = JSON.stringify({ entries: [entry], goneKeys: [] });
  host.write(`${BOOTED}/sno-agents/leftovers.json`, ledger);
  boot(t, host);
  await fakeRuntime(t, host, () => []);
  return host;
}

function boot(t: Test, host: TestHost): void {
  mkdirSync(host.at('/etc'));
  const mount = (...args: string[]) => execFileSync('mount', args);
  const unmountAtEnd = (path: string) =>
    t.teardown(() => execFileSync('umount', ['--recursive', host.at(path)]));
  mount('--bind', host.at('/sysroot'), host.at('/sysroot'));
  unmountAtEnd('/sysroot');
  mount('--bind', host.at(BOOTED), host.at('/etc'));
  unmountAtEnd('/etc');
  mount('-o', 'remount,bind,ro', host.at('/sysroot'));
  // systemd does not run on every machine.
  host.programs.give('systemd-run', 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  host.programs.give('systemctl', 'exit 0');
}

const options = { skip: process.getuid?.() !== 0 && 'mounts need root' };

t.test('leftovers are deleted in every deployment', options, async (t) => {
  const host = await ostreeHost(t);
  t.same(await otherDeployments(host.paths), [OTHER, EARLIER, NATIVE].toSorted());
  t.equal(await host.holds(clean), false);
  await host.run(clean);
  for (const etc of ['/etc', BOOTED, EARLIER, NATIVE]) t.notOk(host.has(`${etc}/${KEY}`), etc);
  t.equal(host.read(`${OTHER}/${KEY}`), 'written by somebody else');
  t.ok(await host.holds(clean));
  t.ok(await host.holds(verifyClean));
  t.throws(() => host.write(`${EARLIER}/x`), { code: 'EROFS' }, '/sysroot is as it was');
  t.notOk(host.has('/run/sno-agents/sysroot/ostree'), 'nothing stays mounted');
  t.notOk(host.has('/run/sno-agents/sysroot'));
});

t.test('they are overwritten before', options, async (t) => {
  const host = await ostreeHost(t);
  t.match(host.read(SECOND_NAME), KEY);
  await host.run(clean);
  t.notOk(host.has(`${EARLIER}/${KEY}`));
  t.notMatch(host.read(SECOND_NAME), KEY, 'what the disk had is gone');
});

t.test('one that is left there is found', options, async (t) => {
  const host = await ostreeHost(t);
  host.remove(`/etc/${KEY}`);
  t.equal(await host.holds(verifyClean), false);
  const { message } = await host.failureOf(verifyClean);
  t.match(message, EARLIER);
  t.notMatch(message, OTHER);
});

t.test('a run that was killed has left its mount', options, async (t) => {
  const host = await ostreeHost(t);
  mkdirSync(host.at('/run/sno-agents/sysroot'), { recursive: true });
  execFileSync('mount', ['--bind', host.at('/sysroot'), host.at('/run/sno-agents/sysroot')]);
  await host.run(clean);
  t.notOk(host.has(`${EARLIER}/${KEY}`));
  t.notOk(host.has('/run/sno-agents/sysroot/ostree'));
});

t.test(
  "the agent's own unit does not stay in another deployment, nor what enables it",
  options,
  async (t) => {
    const host = testHost(t, { programs: 'real' });
    const unit = 'systemd/system/aiokube.service';
    const link = 'systemd/system/multi-user.target.wants/aiokube.service';
    const kept = 'systemd/system/multi-user.target.wants/kubelet.service';
    for (const etc of [BOOTED, EARLIER]) {
      host.write(`${etc}/${unit}`, 'a unit');
      mkdirSync(host.at(`${etc}/systemd/system/multi-user.target.wants`));
      for (const path of [link, kept]) symlinkSync(`/etc/${path}`, host.at(`${etc}/${path}`));
    }
    boot(t, host);
    mkdirSync(host.at('/var/lib/sno-agents'), { recursive: true });
    t.same(await host.run(retireAgent('aiokube')), { kind: 'done' });
    const isThere = (path: string) =>
      lstatSync(host.at(path), { throwIfNoEntry: false }) !== undefined;
    t.notOk(isThere(`${EARLIER}/${unit}`));
    t.notOk(isThere(`${EARLIER}/${link}`));
    t.ok(isThere(`${EARLIER}/${kept}`));
    t.notOk(isThere(`/etc/${unit}`));
  },
);
