/** An ostree system that went back to an earlier /etc, while /var is that of now. */
import { cpSync, rmSync, symlinkSync } from 'node:fs';
import fsp from 'node:fs/promises';
import t, { type Test } from 'tap';
import { deployment } from '../../../../agents/upkeep/payload/deployment.ts';
import { captureBuiltins } from '../../host/builtins.ts';
import { testHost } from '../host/host.ts';

const DEPLOY = '/sysroot/ostree/deploy/coreos/deploy';
const CA = 'kubernetes/pki/authorities/serving/ca.crt';
const CLUSTER = 'sno-agents/cluster.json';

/** A host with one deployment, which has booted. */
async function ostreeHost(t: Test) {
  const host = testHost(t);
  const etcOf = (name: string) => `${DEPLOY}/${name}/etc`;
  host.write(`${etcOf('a.0')}/${CLUSTER}`, 'the cluster');
  host.write(`${etcOf('a.0')}/${CA}`, 'a CA');
  // The path is gone with the next deployment that ostree writes, until the host boots again.
  host.write('/proc/cmdline', 'root=LABEL=root ostree=/ostree/boot.1/coreos/4f2e/0 rw');
  /** Its /etc is mounted. */
  const boot = (name: string) => {
    rmSync(host.at('/etc'), { recursive: true, force: true });
    symlinkSync(host.at(etcOf(name)), host.at('/etc'));
  };
  /** As an update of the operating system does it. */
  const update = (from: string, to: string) =>
    cpSync(host.at(`${DEPLOY}/${from}`), host.at(`${DEPLOY}/${to}`), { recursive: true });
  const warnings = async () => {
    host.lines.splice(0);
    await host.run(deployment);
    return host.lines.filter((line) => line.includes('is older than /var'));
  };
  boot('a.0');
  t.same(await warnings(), []);
  return { host, boot, update, warnings, etcOf };
}

t.test('an update takes /etc along', async (t) => {
  const { boot, update, warnings } = await ostreeHost(t);
  update('a.0', 'b.0');
  boot('b.0');
  t.same(await warnings(), []);
  boot('a.0');
  t.same(await warnings(), [], 'nothing has changed since: the way back is harmless');
});

for (const file of [CA, CLUSTER, 'sno-agents/kubelet.env', 'hostname']) {
  t.test(`back to a deployment in whose time ${file} was another one`, async (t) => {
    const { host, boot, update, warnings, etcOf } = await ostreeHost(t);
    update('a.0', 'b.0');
    boot('b.0');
    await warnings();
    host.write(`/etc/${file}`, 'changed since');
    t.same(await warnings(), []);
    boot('a.0');
    const said = await warnings();
    t.equal(said.length, 1);
    t.match(said[0], `/etc/${file} changed since in ${DEPLOY}/b.0`);
    t.match(said[0], 'rpm-ostree rollback');
    t.equal((await warnings()).length, 1, 'as long as it goes on');
    const record = () => JSON.parse(host.read('/var/lib/sno-agents/sno-payload/deployment.json'));
    t.match(record(), {
      deployment: `${DEPLOY}/b.0`,
      older: { deployment: `${DEPLOY}/a.0`, files: [`/etc/${file}`] },
    });
    boot('b.0');
    t.same(await warnings(), [], 'the right one again');
    t.equal(record().older, undefined);
    boot('a.0');
    await warnings();
    rmSync(host.at(etcOf('b.0')), { recursive: true });
    t.same(await warnings(), [], 'nothing is left to compare with, nor to go back to');
  });
}

t.test('each boot looks again, and another start in the same boot does not', async (t) => {
  const { host, boot, update } = await ostreeHost(t);
  const input = async () => JSON.stringify(await deployment.input(host.context));
  const first = await input();
  t.equal(await input(), first);
  const { readFile } = fsp;
  captureBuiltins(t, () => {
    t.capture(fsp, 'readFile', (...args: Parameters<typeof readFile>) =>
      String(args[0]).endsWith('/boot_id') ? Promise.resolve('another boot') : readFile(...args),
    );
  });
  const second = await input();
  t.not(second, first, 'the same deployment');
  update('a.0', 'b.0');
  boot('b.0');
  t.not(await input(), second);
});

t.test('what else changes in /etc says nothing', async (t) => {
  const { host, boot, update, warnings } = await ostreeHost(t);
  update('a.0', 'b.0');
  boot('b.0');
  await warnings();
  host.write('/etc/motd', 'welcome');
  host.write('/etc/kubernetes/pki/kube-apiserver/serving.crt', 'renewed');
  boot('a.0');
  t.same(await warnings(), []);
});

t.test('a system without deployments', async (t) => {
  const host = testHost(t);
  host.write('/proc/cmdline', 'root=LABEL=root rw');
  t.same(await host.run(deployment), { kind: 'done', note: 'the system has no deployments' });
  host.write('/proc/cmdline', 'ostree=/ostree/boot.1/gone/0/0');
  t.same(await host.run(deployment), { kind: 'done', note: 'the system has no deployments' });
});
