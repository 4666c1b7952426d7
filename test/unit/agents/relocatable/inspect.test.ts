/** `reconfigure validate`: what is looked at, what it says of it, and the seal. */
import t, { type Test } from 'tap';
import { z } from 'zod';
import { validateContext } from '../../../../agents/reconfigure/validate/context.ts';
import { inspectForShipping } from '../../../../agents/reconfigure/validate/inspect.ts';
import { kubernetesPlatform } from '../../../../agents/reconfigure/validate/kubernetes.ts';
import { runValidate } from '../../../../agents/reconfigure/validate/main.ts';
import type { Platform } from '../../../../agents/reconfigure/validate/platform.ts';
import { seal } from '../../../../agents/reconfigure/validate/seal.ts';
import { namesIn, sha256 } from '../../../../lib/host/files.ts';
import { factoryReportSchema, reportPaths } from '../../../../lib/relocation/relocatable/report.ts';
import { CHECK_NAMES } from '../../../../lib/relocation/relocatable/validation/facts.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { servingAuthority } from '../../gather/cluster/serve-api.ts';
import { input } from '../../render/rendered-host.ts';
import { listOf, refuse } from '../host/api.ts';
import type { TestHost } from '../host/host.ts';
import { INTERNAL } from '../reconfigure/site-host.ts';
import { NODE_PORT, SERVICE, shippableNode } from './shippable-node.ts';

const SEALED = '/etc/sno-agents/sealed';
const PROBES = ['workload', 'config-map', 'logs', 'service', 'node-port', 'dns', 'volume'];

/** The checks of the report, by name. */
function checksOf(t: Test, host: TestHost) {
  const { checks, ...report } = factoryReportSchema.parse(
    JSON.parse(host.read(reportPaths(host.paths).json)),
  );
  t.same(
    checks.map(({ name }) => name),
    CHECK_NAMES,
  );
  return { report, of: new Map(checks.map(({ name, ...found }) => [name, found])) };
}

t.test('a node without a fault is reported as such, and sealed', async (t) => {
  const { host, context, probe } = await shippableNode(t);
  const to = reportPaths(host.paths);
  t.equal(await inspectForShipping.holds(context, host.progress()), false);
  t.same(await inspectForShipping.run(context, host.progress()), {
    kind: 'done',
    note: 'no faults',
  });
  t.equal(await inspectForShipping.holds(context, host.progress()), true);
  t.same(
    (await namesIn(to.folder)).toSorted(),
    ['host-facts.json', 'report-key.pub', 'report.html', 'report.json', 'report.json.sig'],
    'what docs/relocation.md says to copy',
  );
  const { report, of } = checksOf(t, host);
  t.match(report, {
    passed: true,
    kubernetes: input.host.versions.kubernetes,
    shippingDays: 30,
    shelfLife: { name: /./, until: /^\d{4}-/ },
    host: { nodeName: 'edge-0', recipient: context.policy.recipient },
  });
  t.notOk('openshift' in report);
  for (const [name, { faults, notes }] of of) {
    t.same(faults, [], name);
    if (name !== 'conformance') t.same(notes, [], name);
  }
  t.match(
    of.get('conformance')?.notes,
    [...PROBES, 'namespace'].map((name) => new RegExp(`^${name}: passed`)),
  );
  for (const path of [to.json, to.page, to.facts, to.key, to.signature]) {
    t.equal(host.mode(path), 0o644, path);
  }
  t.equal(host.mode(to.folder), 0o755);
  t.match(host.read(to.signature), sha256(host.read(to.json)), 'of the report');
  t.equal(host.read(to.key), 'ssh-ed25519 AAAA host\n');
  t.same(JSON.parse(host.read(to.facts)), report.host);
  t.match(host.read(to.page), /PASS: the node can be shipped/);
  t.same([...probe.applied.keys()].toSorted(), [
    ...['ConfigMap', 'Deployment', 'Namespace', 'PersistentVolumeClaim', 'Service'],
  ]);

  t.equal(await seal.holds(context, host.progress()), false);
  // Requested since the node was inspected: it would never end behind a seal.
  const update = '/var/lib/sno-agents/sno-update/request.json';
  host.write(update, '{}');
  await t.rejects(seal.run(context, host.progress()), { message: /an update is under way/ });
  t.equal(host.read(SEALED), '');
  host.remove(update);
  await seal.run(context, host.progress());
  t.equal(await seal.holds(context, host.progress()), true);
  t.equal(host.mode(SEALED), 0o600);
  t.same(JSON.parse(host.read(SEALED)), {
    schemaVersion: 1,
    report: sha256(host.read(to.json)),
  });
  t.not(
    inspectForShipping.input(context),
    inspectForShipping.input({ ...context, id: 'two' }),
    'each run looks again',
  );
  t.not(seal.input(context), seal.input({ ...context, id: 'two' }));
  host.remove(to.signature);
  t.equal(await inspectForShipping.holds(context, host.progress()), false, 'nobody can trust it');
});

t.test('seal, interrupted: a node is sealed for good, or not at all', async (t) => {
  await killedAtAnyMoment(t, {
    async prepare() {
      const it = await shippableNode(t);
      it.host.remove(SEALED);
      it.host.write('/var/lib/sno-agents/factory/report.json', '{}');
      return it;
    },
    run: ({ host, context }) => seal.run(context, host.progress()),
    async allowed({ host, context }, when) {
      if (host.has(SEALED)) t.ok(await seal.holds(context, host.progress()), when);
    },
    result: ({ host }) => [host.read(SEALED), host.mode(SEALED)],
    least: 3,
    isDurable: true,
  });
});

t.test('every fault is in the report, which is written all the same', async (t) => {
  const { host, context, probe, names } = await shippableNode(t, {
    'GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases': () => {
      t.ok(probe.applied.has('Deployment'), 'it settles after the probe, which moves something');
      return listOf();
    },
  });
  for (const place of [`${INTERNAL}:${NODE_PORT}`, `${SERVICE}:2379`, '10.128.0.1:2379']) {
    probe.others.set(place, 'somebody else');
  }
  probe.log = 'of another pod';
  probe.keeps = false;
  names.set('kubernetes.default.svc.cluster.local', new Error('ETIMEOUT'));
  names.set('probe.sno-validate.svc.cluster.local', ['172.30.0.78']);
  host.programs.give('ip', "echo '[]'");
  host.write('/sys/class/rtc/rtc0/since_epoch', '1000000000\n');
  host.write('/var/lib/sno-agents/sno-update/request.json', '{}');
  const progress = host.progress(undefined, 61_500);
  const run = inspectForShipping.run(context, progress);
  await t.rejects(run, {
    kind: 'fatal',
    message: /the node cannot be shipped.*settled: .*; .*clock: .*report\.html/,
  });
  const { report, of } = checksOf(t, host);
  t.equal(report.passed, false);
  t.match(of.get('settled')?.faults, [/./], 'without leaders');
  t.ok(progress.remainingMs() > 0, 'it is not waited for until nothing can be reported');
  t.match(of.get('services')?.faults, [/ETIMEOUT/]);
  t.match(of.get('conformance'), {
    faults: [
      /^config-map: its configuration is another one; expected .*; found somebody else/,
      /^logs: the log of the pod is not its own/,
      /^service: the answer of the Service at 172\.30\.0\.77 is another one.*somebody else/,
      /^node-port: the answer of the node port at 192\.0\.2\.10 is another one.*somebody else/,
      /^dns: the address of probe\.sno-validate.*expected 172\.30\.0\.77; found 172\.30\.0\.78/,
      /^volume: what the next pod finds in the volume is another one.*found nothing/,
    ],
    notes: [/^workload: passed/, /^namespace: passed/],
  });
  t.match(of.get('internal-address')?.faults, [/^br-node does not have the address 192\.0\.2\.10/]);
  t.match(of.get('arrival')?.faults, [/an update is under way/]);
  t.match(of.get('clock')?.faults, [/^the hardware clock is -\d+ s off/]);
  t.match(host.read(reportPaths(host.paths).page), /FAIL: the node cannot be shipped/);
});

t.test('what the payload has not is not tried, and what cannot be known is noted', async (t) => {
  const { host, context } = await shippableNode(t, {
    'GET /apis/storage.k8s.io/v1/storageclasses': () =>
      listOf({
        metadata: {
          name: 'not-by-default',
          annotations: { 'storageclass.kubernetes.io/is-default-class': 'false' },
        },
      }),
  });
  host.remove('/sys/class/rtc/rtc0/since_epoch');
  host.write('/synchronized', 'no\n');
  const platform = kubernetesPlatform(host.context, input);
  t.same(await inspectForShipping.run({ ...context, platform }, host.progress()), {
    kind: 'done',
    note: 'the host has no hardware clock; no time server has confirmed the clock',
  });
  const found = checksOf(t, host)
    .of.get('conformance')
    ?.notes.filter((each) => /not/.test(each));
  t.match(found, [
    /^service: not tried, the payload has no kube-proxy/,
    /^node-port: not tried, the payload has no kube-proxy/,
    /^volume: not tried, there is no default StorageClass/,
  ]);
});

t.test('Services and node ports have to answer in both families', async (t) => {
  const { host, context, probe } = await shippableNode(t, {
    'GET /api/v1/namespaces/sno-validate/services/probe': () => ({
      metadata: { name: 'probe' },
      spec: { clusterIPs: [SERVICE, '2001:db8::77'], ports: [{ nodePort: NODE_PORT }] },
    }),
  });
  for (const place of [`[2001:db8::77]:2379`, `[2001:db8::10]:${NODE_PORT}`])
    probe.others.set(place, 'somebody else');
  const policy = { ...context.policy, secondInternalAddress: '2001:db8::10' };
  const run = inspectForShipping.run({ ...context, policy }, host.progress());
  await t.rejects(run, { kind: 'fatal', message: /cannot be shipped/ });
  t.match(checksOf(t, host).of.get('conformance')?.faults, [
    /^service: the answer of the Service at 2001:db8::77 is another one/,
    /^node-port: the answer of the node port at 2001:db8::10 is another one/,
  ]);
});

t.test('whether the image of a unit is pinned is asked of the runtime', async (t) => {
  const { host, context } = await shippableNode(t);
  const facts: Platform['facts'] = async (client, limits) => ({
    ...(await context.platform.facts(client, limits)),
    unitImages: ['here:1', 'pinned:1'].map((image) => ({ image, path: '/usr/local/bin/a' })),
  });
  const platform = { ...context.platform, facts };
  const run = inspectForShipping.run({ ...context, platform }, host.progress());
  await t.rejects(run, { kind: 'fatal', message: /cannot be shipped/ });
  const { faults = [] } = checksOf(t, host).of.get('images') ?? {};
  t.match(faults, [/^\/usr\/local\/bin\/a: the image here:1 is not pinned/]);
  t.equal(faults.length, 1);
});

t.test('a log that the API does not return is a fault', async (t) => {
  const { host, context } = await shippableNode(t, {
    'GET /api/v1/namespaces/sno-validate/pods/probe-1/log': () => refuse(500, 'no kubelet'),
  });
  await t.rejects(inspectForShipping.run(context, host.progress()), {
    kind: 'fatal',
    message: /the node cannot be shipped/,
  });
  t.match(checksOf(t, host).of.get('conformance')?.faults, [
    /^logs: the API returns no log; found 500: .*no kubelet/,
  ]);
});

const containerSchema = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({ containers: z.array(z.looseObject({})).length(1) }).loose(),
    }),
  }),
});

t.test('the probe runs where nothing can be pulled, and as nobody', async (t) => {
  const { host, context, probe } = await shippableNode(t);
  await inspectForShipping.run(context, host.progress());
  const { spec } = containerSchema.parse(JSON.parse(probe.applied.get('Deployment') ?? '{}'));
  const [container] = spec.template.spec.containers;
  t.match(container, {
    image: input.host.images.etcd,
    imagePullPolicy: 'Never',
    // What etcd serves to those who ask whether it works.
    readinessProbe: { httpGet: { path: '/health', port: 2379 } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  });
  t.match(spec.template.spec, {
    securityContext: { runAsNonRoot: true },
    enableServiceLinks: false,
  });
});

/** A node that can be shipped, and the command that says so. */
async function validated(t: Test) {
  const { host } = await shippableNode(t);
  host.write(accessTo('kubernetes').gather.ca, servingAuthority);
  const settings = { validateWindowMs: 50, validateProbeMs: 30_000 };
  host.write('/etc/sno-agents/settings.json', JSON.stringify(settings));
  host.write('/etc/hostname', 'edge-0\n');
  host.programs.give('systemctl', 'case "$*" in *UserspaceTimestampMonotonic*) echo 1 ;; esac');
  const run = async (...args: string[]) => {
    const lines: string[] = [];
    const write = (text: string) => void lines.push(text);
    const code = await runValidate(host.paths, args, { write, isJournal: false });
    return { code, said: lines.join('') };
  };
  return { host, run };
}

t.test('reconfigure validate seals the node, unless it is told not to', async (t) => {
  const { host, run } = await validated(t);
  host.remove(SEALED);
  t.match(await run('--no-seal'), { code: 0, said: /can be shipped, and is not sealed/ });
  t.notOk(host.has(SEALED));
  t.match(await run(), { code: 0, said: /PASS: the node is sealed, and can be shipped/ });
  t.ok(host.has(SEALED));
});

t.test('a node that was sealed before is not called unsealed', async (t) => {
  const { host, run } = await validated(t);
  const sealed = host.read(SEALED);
  t.match(await run('--no-seal'), {
    code: 0,
    said: /PASS: the node is sealed, and can be shipped/,
  });
  t.equal(host.read(SEALED), sealed, 'it is left as it is');
});

t.test('reconfigure validate', async (t) => {
  const { host } = await shippableNode(t);
  const lines: string[] = [];
  const run = (...args: string[]) =>
    runValidate(host.paths, args, { write: (text) => void lines.push(text) });
  const one = await validateContext(host.paths);
  t.equal(one.platform.windowMs, one.settings.validateWindowMs);
  t.match(one.node.host, { hostname: 'edge-0' });
  t.not((await validateContext(host.paths)).id, one.id, 'each run looks again');
  const bootstrap = '/etc/sno-agents/bootstrap-admin.kubeconfig';
  if (host.has(bootstrap)) host.remove(bootstrap);
  const signed = one.withAdministrator(host.progress(), async () => 'signed');
  t.equal(await signed, 'signed', 'with what an installed host has');

  const update = '/var/lib/sno-agents/sno-update/request.json';
  host.write(update, '{}');
  t.equal(await run('--unseal'), 2, 'a change is under way');
  t.ok(host.has(SEALED));
  host.remove(update);
  const start = 'systemctl start --no-block kubelet.service';
  host.programs.give('systemctl', '[ "$1" = start ]');
  t.equal(await run('--unseal'), 0);
  t.notOk(host.has(SEALED));
  t.same(host.programs.calls('systemctl'), [start]);
  host.programs.give('systemctl', '[ "$1" != show ] || cat "$ROOT/kubelet"');
  host.write('/kubelet', 'ActiveState=inactive\n');
  t.equal(await run('--unseal'), 0, 'it was killed before it started the kubelet');
  t.same(host.programs.calls('systemctl').filter((call) => call === start).length, 2);
  host.write('/kubelet', 'ActiveState=active\n');
  t.equal(await run('--unseal'), 2, 'it is not sealed');
  const calls = host.programs.calls('systemctl').length;
  const renderInput = host.read('/etc/sno-agents/render-input.json');
  host.remove('/etc/sno-agents/render-input.json');
  t.equal(await run(), 2, 'a host of an earlier release');
  host.write('/etc/sno-agents/render-input.json', renderInput, 0o600);
  host.remove('/etc/sno-agents/factory.json');
  t.equal(await run(), 2, 'it is not relocatable');
  t.equal(host.programs.calls('systemctl').length, calls);
});
