/** Checking, stopping, the clock and the start of a host of OpenShift at its site. */
import t, { type Test } from 'tap';
import { armOpenShiftSite } from '../../../../agents/reconfigure/openshift/arm.ts';
import { bridgeFaults } from '../../../../agents/reconfigure/openshift/bridge-faults.ts';
import { checkSiteOnOpenShift } from '../../../../agents/reconfigure/openshift/check.ts';
import { siteClockOnOpenShift } from '../../../../agents/reconfigure/openshift/clock.ts';
import { startOpenShift } from '../../../../agents/reconfigure/openshift/start.ts';
import { stopOpenShift } from '../../../../agents/reconfigure/openshift/stop.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { isInstalled } from '../../../../lib/host/search-path.ts';
import { waitsForEachEffect } from '../../engine/steps/killed-at-any-moment.ts';
import { fakeApi, kubeconfigs } from '../host/api.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { ofUnits } from './openshift-disk.ts';
import { DHCP_SITE, openShiftArrived } from './openshift-site.ts';

const KUBECONFIG =
  '/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig';
const DAY_MS = 86_400_000;
const PAIRS = ['client', 'server'].map((of) => `/var/lib/kubelet/pki/kubelet-${of}-current.pem`);

for (const [name, prepare, says] of [
  [
    'a bridge that a person describes',
    (host: TestHost) => host.write('/etc/nmstate/openshift/applied'),
    /described by hand: \/etc\/nmstate\/openshift\/applied/,
  ],
  [
    'a second bridge',
    (host: TestHost) => host.write('/etc/ovnk/extra_bridge', 'eno2'),
    /described by hand.*extra_bridge/,
  ],
  [
    'no Open vSwitch',
    (host: TestHost) => host.programs.remove('ovs-vsctl'),
    /the host has no ovs-vsctl/,
  ],
  [
    'no nmstate, as on the Kubernetes payload',
    (host: TestHost) => host.programs.remove('nmstatectl'),
    /the host has no nmstatectl/,
  ],
] as const) {
  t.test(`check: ${name} is refused`, async (t) => {
    const { host, run } = await openShiftArrived(t);
    t.match(await run(checkSiteOnOpenShift), { kind: 'done' });
    t.match(host.lines.join(''), 'never run on a host of CoreOS');
    prepare(host);
    await t.rejects(run(checkSiteOnOpenShift), {
      kind: 'usage',
      code: 'reconfigure-refused',
      message: says,
    });
  });
}

t.test('check: a host without programs for the network is refused', async (t) => {
  const host = testHost(t, { programs: 'real' });
  const absent: string[] = [];
  for (const name of ['nmcli', 'ovs-vsctl']) if (!(await isInstalled(name))) absent.push(name);
  t.same(
    await bridgeFaults(host.paths),
    absent.map((name) => `the host has no ${name}`),
  );
});

t.test('stop: a sealed host without a network has no CRI-O, and waits for none', async (t) => {
  const { host, run, holds } = await openShiftArrived(t);
  await run(armOpenShiftSite);
  await waitsForEachEffect(t, async () => t.match(await run(stopOpenShift), { note: '0 pods' }));
  t.same(
    ofUnits(host).filter((call) => call.startsWith('stop')),
    [
      'stop kubelet.service',
      'stop kubelet-dependencies.target',
      'stop nodeip-configuration.service',
      'stop ovs-configuration.service',
      'stop crio.service',
    ],
  );
  const calls = host.programs.calls();
  const copied = calls.findIndex((call) => call.includes(' cp '));
  t.ok(copied > calls.indexOf('systemctl stop crio.service'), 'nothing is copied while it runs');
  t.ok(await holds(stopOpenShift));
  for (const unit of ['kubelet', 'crio']) host.write(`/units/${unit}.service`, 'failed');
  t.ok(await holds(stopOpenShift), 'what has failed does not run');
  host.write('/var/lib/etcd/member/snap/db', 'the database of the site');
  await run(stopOpenShift);
  t.equal(host.read('/var/lib/etcd/member/snap/db'), 'the database of the site', 'copied once');
});

t.test('stop: what the kubelet started last is seen', async (t) => {
  const { host, run } = await openShiftArrived(t);
  host.write('/units/crio.service', 'inactive');
  const started = 'echo activating > "$ROOT/units/crio.service"';
  host.programs.unless('systemctl', `[ "$*" = "stop kubelet.service" ] && ${started}`);
  t.match(await run(stopOpenShift), { kind: 'not-yet', reason: 'crio.service is starting' });
});

t.test('stop: pods end before CRI-O does, and not while it starts', async (t) => {
  const { host, run, holds } = await openShiftArrived(t);
  await run(armOpenShiftSite);
  host.write('/units/crio.service', 'activating');
  t.match(await run(stopOpenShift), { kind: 'not-yet', reason: 'crio.service is starting' });
  t.notOk(ofUnits(host).includes('stop crio.service'));
  host.write('/units/crio.service', 'active');
  t.notOk(await holds(stopOpenShift));
  const stopped: string[] = [];
  const record = (request: unknown) => {
    stopped.push(JSON.stringify(request));
    t.ok(ofUnits(host).includes('stop kubelet.service'), 'which would start them again');
    t.notOk(ofUnits(host).includes('stop crio.service'), 'it is asked to');
    t.notOk(host.has('/var/lib/etcd.site'), 'a database in use is not copied');
    return {};
  };
  await fakeRuntime(t, host, () => [{ name: 'etcd' }], {
    ListPodSandbox: () => ({ items: [{ id: 'pod-1', metadata: { name: 'etcd' } }] }),
    StopContainer: record,
    StopPodSandbox: record,
  });
  t.match(await run(stopOpenShift), { note: '1 pods' });
  t.match(stopped, [/"id-of-etcd".*"30"/, /"pod-1"/], 'a database has time to end');
  t.ok(await holds(stopOpenShift));
});

const leaf = async (from: Date, days: number) => {
  const authority = await createAuthority('an operator', undefined, from);
  const subject = { commonName: 'system:node:edge-0', organizations: ['system:nodes'] };
  const { certificate, key } = await issueLeaf(
    authority,
    { subject, usage: 'client', lifetimeDays: days },
    from,
  );
  return `${certificate}${key}`;
};

t.test(
  'clock: not before the certificates of operators; time servers are asked at once',
  async (t) => {
    const servers = 'additionalNTPSources: [198.51.100.123]\nallowRestart: true\n';
    const { host, run, holds } = await openShiftArrived(t, { config: DHCP_SITE + servers });
    host.programs.give('chronyc', 'exit 1');
    t.match(await run(siteClockOnOpenShift), { kind: 'done' });
    t.same(host.programs.calls('chronyc'), []);
    const early = await leaf(new Date(Date.now() + 90 * DAY_MS), 30);
    const folder = '/etc/kubernetes/static-pod-resources/etcd-certs';
    host.write(`${folder}/readme.txt`, early);
    t.ok(await holds(siteClockOnOpenShift), 'not a certificate of anybody');
    for (const path of [`${folder}/a.crt`, `${folder}/secrets/etcd-all-certs/a.pem`, ...PAIRS]) {
      host.write(path, early, 0o600);
      t.notOk(await holds(siteClockOnOpenShift), path);
      host.programs.forgetCalls();
      await waitsForEachEffect(t, async () =>
        t.match(await run(siteClockOnOpenShift), {
          kind: 'not-yet',
          reason: /there are certificates since/,
        }),
      );
      host.remove(path);
    }
    t.same(host.programs.calls('chronyc'), [
      'chronyc add server 198.51.100.123 iburst',
      'chronyc makestep',
    ]);
  },
);

async function certified(host: TestHost): Promise<void> {
  const pair = await leaf(new Date(Date.now() - DAY_MS), 30);
  for (const path of PAIRS) host.write(path, pair, 0o600);
}

/** The API behind the kubeconfig of its operator. */
async function operatorApi(t: Test, host: TestHost): Promise<void> {
  await fakeApi(t, host, { 'GET /readyz': () => ({}) });
  host.write(KUBECONFIG, host.read(kubeconfigs.bootstrapAdmin), 0o600);
}

t.test('start: whoever is told to stop does not say that the API is not ready', async (t) => {
  const { host, context } = await openShiftArrived(t);
  const stop = new AbortController();
  const answer = () => {
    stop.abort(new Error('told to stop'));
    return new Promise<object>(() => {});
  };
  await fakeApi(t, host, { 'GET /readyz': answer });
  host.write(KUBECONFIG, host.read(kubeconfigs.bootstrapAdmin), 0o600);
  const progress = host.progress(stop.signal);
  await t.rejects(startOpenShift.run(context, progress), { message: 'told to stop' });
});

t.test('start: the seal is opened, and the kubelet brings what it requires', async (t) => {
  const { host, run, holds } = await openShiftArrived(t);
  t.match(await run(startOpenShift), {
    kind: 'not-yet',
    reason: /API server is not ready: there is no kubeconfig/,
  });
  t.notOk(host.has('/etc/sno-agents/sealed'));
  t.same(ofUnits(host).slice(-2), ['daemon-reload', 'start --no-block kubelet.service']);
  t.equal(host.read('/units/kubelet.service'), 'active\n', 'not before the seal is open');
  await certified(host);
  await operatorApi(t, host);
  await waitsForEachEffect(t, async () => t.match(await run(startOpenShift), { kind: 'done' }));
  t.ok(await holds(startOpenShift));
  host.write(PAIRS[0] ?? '', await leaf(new Date(Date.now() - 60 * DAY_MS), 30), 0o600);
  t.notOk(await holds(startOpenShift), 'a certificate has expired under way');
});
