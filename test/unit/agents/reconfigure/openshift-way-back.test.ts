/** What a host of OpenShift goes back to: disk and database agree. */
import t from 'tap';
import { heldBackPaths } from '../../../../agents/reconfigure/hold-back.ts';
import { armOpenShiftSite } from '../../../../agents/reconfigure/openshift/arm.ts';
import { siteNetworkOnOpenShift } from '../../../../agents/reconfigure/openshift/network.ts';
import { onTrial } from '../../../../agents/reconfigure/openshift/plan.ts';
import { stopOpenShift } from '../../../../agents/reconfigure/openshift/stop.ts';
import { FOLDERS } from '../../../../agents/reconfigure/openshift/touched.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { beforeFolder } from '../../../../lib/change/site/places.ts';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { keepTrial, returnToKept } from '../../../../lib/engine/trial/kept.ts';
import { isRestBack, putBackNetwork, putBackRest } from '../../../../lib/engine/trial/points.ts';
import { readTrial } from '../../../../lib/engine/trial/store.ts';
import { relocatableUnits } from '../../../../units/openshift.ts';
import type { TestHost } from '../host/host.ts';
import { changedBySite, installed, OF_DAEMON, onDisk } from './openshift-disk.ts';
import { DHCP_SITE, openShiftArrived } from './openshift-site.ts';
import { STATE } from './site-host.ts';

/** Of the agents, and of the site as well. */
const RECORDS = ['/var/lib/sno-agents/record.json', `${STATE}/admin.kubeconfig`];

t.test('arm: longer than everything that is on trial', async (t) => {
  const { host, run, context } = await openShiftArrived(t);
  installed(host);
  host.write('/etc/chrony.conf/of-a-person');
  host.write('/etc/sno-agents/sno-trial-manifests/etcd-pod.yaml', 'of a trial before');
  await run(armOpenShiftSite);
  const trial = await readTrial(host.paths);
  t.equal(trial?.deadlineMs, context.settings.reconfigureOperatorsTrialMs);
  const sum = onTrial(context.settings).reduce((all, { deadlineMs }) => all + deadlineMs, 0);
  t.ok((trial?.deadlineMs ?? 0) > sum, `${sum / 60_000} min`);
  t.ok(context.settings.reconfigureOperatorsMs > 2 * context.settings.reconfigureOperatorsWindowMs);
  const files = trial?.points.files.map(({ path }) => path) ?? [];
  t.notOk(files.includes('/etc/systemd/system/masked.service'), 'a link is the daemon’s to make');
  t.notOk(files.includes('/etc/chrony.conf'), 'a folder is no file');
  t.notOk(
    files.some((path) => path.includes('sno-trial-')),
    'what lies aside is of a trial',
  );
  t.notOk(files.includes('/usr/local/bin/configure-ovs.sh'), 'out of reach, and not changed');
  t.notOk(
    files.some((path) => path.startsWith('/etc/kubernetes/manifests/')),
    'as a whole',
  );
});

t.test(
  'what is moved aside stays on its mount: each folder that a unit may write is one',
  async (t) => {
    const units = relocatableUnits.filter(({ name }) =>
      /^(reconfigure|sno-trial)\.service$/.test(name),
    );
    t.equal(units.length, 2);
    for (const { contents } of units) {
      const mounts = [...contents.matchAll(/^ReadWritePaths=(.*)$/gm)].flatMap(([, paths = '']) =>
        paths.split(' ').map((path) => path.replace(/^-/, '')),
      );
      for (const { path, aside } of FOLDERS) {
        const [mount, ...others] = mounts.filter((each) => path.startsWith(`${each}/`));
        t.same(others, []);
        t.ok(mount !== undefined && aside.startsWith(`${mount}/`), path);
      }
    }
  },
);

t.test('arm: a configuration of the daemon that cannot be read changes nothing', async (t) => {
  const { host, run } = await openShiftArrived(t);
  for (const text of ['no JSON', '{}', '{"spec":{"config":{"storage":{"files":[{}]}}}}']) {
    host.write('/etc/machine-config-daemon/currentconfig', text);
    await t.rejects(run(armOpenShiftSite), {
      kind: 'fatal',
      message: /currentconfig cannot be read/,
    });
    t.equal(await readTrial(host.paths), undefined);
  }
});

t.test('arm: what a manifest leaves that waits for its kind', async (t) => {
  const { host, context } = await openShiftArrived(t);
  const text = 'apiVersion: later.test/v1\nkind: Fast\nmetadata: {name: one}\n';
  const atSite = { ...context, manifests: decodeManifests('extra', text).manifests };
  const left = await heldBackPaths(atSite);
  await armOpenShiftSite.run(atSite, host.progress());
  const files = (await readTrial(host.paths))?.points.files.map(({ path }) => path) ?? [];
  t.ok(left.length > 2, `${left.length} files`);
  t.same(
    left.filter((path) => !files.includes(path)),
    [],
  );
});

t.test(
  'the way back: disk and database agree, also with what was pruned and what is new',
  async (t) => {
    const { host, run, holds } = await openShiftArrived(t);
    installed(host);
    for (const path of RECORDS) host.write(path, 'of the site before', 0o600);
    const before = onDisk(host);
    await run(armOpenShiftSite);
    t.notOk(await holds(stopOpenShift));
    await run(stopOpenShift);
    t.ok(await holds(stopOpenShift));
    changedBySite(host);
    for (const path of RECORDS) host.write(path, 'of the site', 0o600);
    const trial = await readTrial(host.paths);
    if (trial === undefined) throw new Error('no trial');
    await putBackNetwork(host.paths, trial.points);
    await putBackRest(host.paths, trial.points);
    t.ok(await isRestBack(host.paths, trial.points));
    t.same(onDisk(host), before);
    for (const path of RECORDS) t.equal(host.read(path), 'of the site before', path);
  },
);

t.test('the way back: keys where there were none, and a trusted certificate', async (t) => {
  const { certificate } = await createAuthority('trusted by the site');
  const trust = `additionalTrustBundle: {userCaBundle: ${JSON.stringify(certificate)}}`;
  const { host, run } = await openShiftArrived(t, {
    config: `${DHCP_SITE}${trust}\nallowRestart: true\n`,
  });
  installed(host);
  const extracted = '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem';
  host.write(extracted, 'of CoreOS');
  host.remove('/var/home/core/.ssh');
  // A daemon that has written nothing of what a site changes.
  const units = [{ name: 'kubelet.service', dropins: [{ name: '20-logging.conf' }] }];
  const current = JSON.stringify({ spec: { config: { storage: null, systemd: { units } } } });
  host.write('/etc/machine-config-daemon/currentconfig', current);
  for (const path of ['/etc/mco', OF_DAEMON]) host.remove(path);
  const before = onDisk(host);
  await run(armOpenShiftSite);
  await run(stopOpenShift);
  changedBySite(host);
  host.write(extracted, 'of CoreOS and the site');
  for (const path of RECORDS) host.write(path, 'of the site', 0o600);
  const trial = await readTrial(host.paths);
  if (trial === undefined) throw new Error('no trial');
  await putBackNetwork(host.paths, trial.points);
  await putBackRest(host.paths, trial.points);
  t.same(onDisk(host), before);
  for (const path of RECORDS) t.notOk(host.has(path), path);
});

t.test('the way back on request: from copies, where there are no links', async (t) => {
  const { host, run } = await openShiftArrived(t);
  installed(host);
  const before = onDisk(host);
  await run(armOpenShiftSite);
  await run(stopOpenShift);
  changedBySite(host);
  // As between /etc and /var of CoreOS.
  const no = 'case "$*" in *--link*static-pod*|*--link*ssh*) mkdir -p "$5"; exit 1 ;; esac';
  host.programs.give('cp', `${no}\nexec /bin/cp "$@"`);
  await keepTrial(host.paths, beforeFolder(host.paths), AbortSignal.timeout(60_000));
  const trial = await readTrial(host.paths);
  if (trial === undefined) throw new Error('no trial');
  for (const { aside } of trial.points.moved) host.remove(aside);
  host.remove('/var/lib/sno-agents/sno-trial/trial.json');
  const reason = { code: 'x', kind: 'usage', what: 'asked' } as const;
  const id = '00000000-0000-4000-8000-000000000000';
  await returnToKept(
    host.paths,
    beforeFolder(host.paths),
    { id, reason },
    AbortSignal.timeout(60_000),
  );
  const back = await readTrial(host.paths);
  if (back === undefined) throw new Error('no trial');
  await putBackNetwork(host.paths, back.points);
  await putBackRest(host.paths, back.points);
  t.same(onDisk(host), before);
});

t.test('killed at each program that the host’s part runs: it ends as it would have', async (t) => {
  const steps = [armOpenShiftSite, stopOpenShift, siteNetworkOnOpenShift];
  const { host, run, holds } = await openShiftArrived(t);
  installed(host);
  host.write('/bridge', 'of the factory');
  const before = onDisk(host);
  const kill = async (at: number): Promise<boolean> => {
    host.write('/budget', `${at}`);
    for (const step of steps) {
      // As the runner does.
      if (step !== siteNetworkOnOpenShift && (await holds(step).catch(() => false))) continue;
      const failed = await run(step).then(
        () => false,
        () => true,
      );
      if (failed && Number(host.read('/budget')) <= 0) return true;
    }
    return false;
  };
  host.programs.give('cp', 'exec /bin/cp "$@"');
  for (const program of ['cp', 'nmcli', 'nmstatectl', 'ovs-vsctl', 'systemctl']) {
    dying(host, program);
  }
  let killed = 0;
  for (let at = 1; (await kill(at)) && at < 100; at++) killed++;
  t.ok(killed > 15, `${killed} times`);
  host.write('/budget', '1000');
  for (const step of steps) await run(step);
  t.ok(await holds(siteNetworkOnOpenShift));
  changedBySite(host);
  const trial = await readTrial(host.paths);
  if (trial === undefined) throw new Error('no trial');
  await putBackNetwork(host.paths, trial.points);
  await putBackRest(host.paths, trial.points);
  t.same(onDisk(host), before);
});

/** Has a program fail before its work once `left` programs have run: nobody is there to go on behind it. */
function dying(host: TestHost, program: string): void {
  const count =
    'n=$(($(cat "$ROOT/budget") - 1)); echo $n > "$ROOT/budget"; [ $n -gt 0 ] || exit 9';
  host.programs.unless(program, count);
}
