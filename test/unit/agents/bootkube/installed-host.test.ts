import { createHash, createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { combinedIgnition } from '../../../../agents/bootkube/handover/combined-ignition.ts';
import { installedHostConfig } from '../../../../agents/bootkube/handover/installed-host.ts';
import { bundlePath } from '../../../../agents/bootkube/handover/log-bundle.ts';
import { originalMasterPath } from '../../../../agents/bootkube/handover/master-ignition.ts';
import { snapshotPath, snapshotRecordPath } from '../../../../agents/bootkube/handover/snapshot.ts';
import { identityFolder } from '../../../../agents/steps/kubelet-identity.ts';
import { decodeDataUrl } from '../../../../lib/base/data-url.ts';
import { ledgerSchema } from '../../../../lib/cluster/installation/ledger.ts';
import { createSigningKey } from '../../../../lib/pki/keys.ts';
import { parseConfig } from '../../../../lib/render/ignition/config.ts';
import {
  effectiveConfig,
  holdsPrivateKey,
  validateConfigText,
} from '../../../../lib/render/ignition/validate.ts';
import type { Rendered, RenderedFile } from '../../../../lib/render/renderer.ts';
import { saveRendered } from '../../../../lib/render/store.ts';
import { deferredUnit, pivotUnits } from '../../../../units/installed.ts';
import { rendered as everyday, host as facts } from '../../render/rendered-host.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { giveSnapshot } from './give-snapshot.ts';

const MASTER = '/opt/openshift/master.ign';
const LEDGER = '/etc/sno-agents/leftovers.json';
const BUNDLE = '/var/log/log-bundle-bootstrap.tar.gz';
const IDENTITY = 'kubelet-client-2026-01-31-00-00-00.pem';
const RESTORE = '/var/lib/sno-agents/restore';

/** An additional key that only the bootstrap needs and that never reaches the disk. */
const liveKey: RenderedFile = {
  path: '/etc/live-only.key',
  mode: 0o600,
  contents: (await createSigningKey()).privateKey,
  uses: ['standalone-kubelet'],
  keyClass: 'gone',
};
const rendered: Rendered = { ...everyday, files: [...everyday.files, liveKey] };
const liveOnly = new Set([
  ...['crt', 'key', 'kubeconfig'].map((end) => `/etc/sno-agents/csr-approver.${end}`),
  liveKey.path,
  '/etc/kubernetes/kubelet-live.yaml',
  ...['etcd-ca.crt', 'etcd-client.crt', 'etcd-client.key'].map((name) => `/etc/sno-agents/${name}`),
]);

const sha256 = (contents: string | Uint8Array) =>
  createHash('sha256').update(contents).digest('hex');
const fingerprint = (pem: string) =>
  sha256(createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' }));

/** A live host after the preceding steps. */
async function host(t: Test): Promise<TestHost> {
  const live = testHost(t);
  const { context } = live;
  await saveRendered(live.paths, 'input', facts, rendered);
  live.write(join(identityFolder(context), IDENTITY), everyday.files[1]?.contents ?? '');
  giveSnapshot(live);
  live.write(bundlePath(context), 'logs');
  return live;
}

async function installed(context: Parameters<typeof installedHostConfig>[0]) {
  const config = await installedHostConfig(context, { withBundle: true });
  const files = new Map(
    (config.storage?.files ?? []).map(({ path, mode, contents }) => [
      path,
      { mode, bytes: decodeDataUrl(contents ?? {}) },
    ]),
  );
  const ledger = ledgerSchema.parse(JSON.parse(files.get(LEDGER)?.bytes.toString() ?? ''));
  return { config, files, ledger };
}

t.test('the host gets what it needs, and nothing that only the live stage needs', async (t) => {
  const { context } = await host(t);
  const { config, files } = await installed(context);
  t.same(validateConfigText(JSON.stringify(config)), []);
  for (const { path, mode, contents } of rendered.files) {
    const there = files.get(path);
    if (liveOnly.has(path)) t.notOk(there, `${path} is the live stage's`);
    else t.match(there, { mode, bytes: Buffer.from(contents) }, path);
  }
  const directories = new Set(config.storage?.directories?.map(({ path }) => path));
  for (const { path } of rendered.directories) {
    t.equal(directories.has(path), path !== '/var/lib/etcd', path);
  }
});

t.test('files that the agents add to the rendered ones', async (t) => {
  const live = await host(t);
  live.write('/etc/sno-agents/settings.json', '{"retryMs":1}');
  live.write('/etc/sno-agents/report-to.json', 'with a key', 0o600);
  live.write('/etc/sno-agents/backup-to.json', 'with another key', 0o600);
  live.write('/etc/sno-agents/render-input.json', 'without keys', 0o600);
  const { config, files } = await installed(live.context);
  const byRenderer = new Set(rendered.files.map(({ path }) => path));
  const own = [...files].filter(([path]) => !byRenderer.has(path));
  const { cluster } = live.context;
  const manifestOf = (component: string) =>
    rendered.staticPods.find((pod) => pod.component === component)?.manifest;
  const pod = (component: string) => [
    `/etc/kubernetes/manifests/${component}.yaml`,
    [0o600, manifestOf(component)],
  ];
  const ledger = files.get(LEDGER)?.bytes.toString();
  t.same(
    Object.fromEntries(own.map(([path, { mode, bytes }]) => [path, [mode, bytes.toString()]])),
    Object.fromEntries([
      pod('kube-apiserver'),
      pod('kube-controller-manager'),
      pod('kube-scheduler'),
      // It contains a proxy's password.
      ['/etc/sno-agents/cluster.json', [0o600, JSON.stringify(cluster)]],
      ['/etc/sno-agents/cluster-id', [0o644, cluster.clusterId]],
      ['/etc/sno-agents/settings.json', [0o644, '{"retryMs":1}']],
      ['/etc/sno-agents/report-to.json', [0o600, 'with a key']],
      ['/etc/sno-agents/backup-to.json', [0o600, 'with another key']],
      ['/etc/sno-agents/render-input.json', [0o600, 'without keys']],
      ['/etc/default/nodeip-configuration', [0o644, 'KUBELET_NODEIP_HINT=192.0.2.10\n']],
      [LEDGER, [0o600, ledger]],
      [BUNDLE, [0o600, 'logs']],
      [`${RESTORE}/etcd-snapshot.db`, [0o600, 'snapshot']],
      [`${RESTORE}/etcd-snapshot.json`, [0o600, live.read('/opt/openshift/etcd-snapshot.json')]],
      [`${RESTORE}/etcd-pod.yaml`, [0o600, manifestOf('etcd')]],
      [`/var/lib/kubelet/pki/${IDENTITY}`, [0o600, everyday.files[1]?.contents]],
    ]),
  );
  const bin = '/var/lib/sno-agents/bin';
  const agents = ['progress', 'sno-restore', 'post-reboot'];
  t.same(
    Object.fromEntries((config.storage?.links ?? []).map(({ path, target }) => [path, target])),
    Object.fromEntries([
      ...agents.map((name) => [`${bin}/${name}`, 'sno-agents']),
      ...agents.map((name) => [`/usr/local/bin/${name}`, `${bin}/sno-agents`]),
      ['/var/lib/kubelet/pki/kubelet-client-current.pem', IDENTITY],
    ]),
  );
});

t.test('only root can read secrets', async (t) => {
  const { context } = await host(t);
  const { config, files } = await installed(context);
  const secret = [...files].filter(([, { bytes }]) => holdsPrivateKey(bytes));
  t.ok(secret.length > 10);
  const paths = [
    ...secret.map(([path]) => path),
    '/etc/kubernetes/kube-apiserver/encryption.yaml',
    '/etc/sno-agents/bootstrap-admin.kubeconfig',
  ];
  for (const path of paths) t.equal(files.get(path)?.mode, 0o600, path);
  for (const path of [RESTORE, '/var/lib/kubelet/pki', '/etc/kubernetes/pki']) {
    const folder = config.storage?.directories?.find((directory) => directory.path === path);
    t.equal(folder?.mode, 0o700, path);
  }
});

t.test('only the restore unit can start etcd', async (t) => {
  const { context } = await host(t);
  const { files } = await installed(context);
  const etcd = rendered.staticPods.find(({ component }) => component === 'etcd');
  const pods = [...files.keys()].filter((path) => path.startsWith('/etc/kubernetes/manifests/'));
  t.same(
    pods.toSorted(),
    ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(
      (name) => `/etc/kubernetes/manifests/${name}.yaml`,
    ),
  );
  t.equal(files.get(`${RESTORE}/etcd-pod.yaml`)?.bytes.toString(), etcd?.manifest);
  t.equal(files.get(`${RESTORE}/etcd-snapshot.db`)?.bytes.toString(), 'snapshot');
});

t.test('the ledger lists every leftover with the hash of its contents', async (t) => {
  const { context } = await host(t);
  const { files, ledger } = await installed(context);
  const expected = new Map<string, string | Uint8Array>([
    ...rendered.files
      .filter(({ path, leftover }) => leftover !== undefined && !liveOnly.has(path))
      .map(({ path, contents }): [string, string] => [path, contents]),
    ...['etcd-snapshot.db', 'etcd-snapshot.json', 'etcd-pod.yaml'].map(
      (name): [string, Uint8Array] => {
        const path = join(RESTORE, name);
        return [path, files.get(path)?.bytes ?? Buffer.alloc(0)];
      },
    ),
    [BUNDLE, 'logs'],
  ]);
  t.ok(expected.has('/etc/sno-agents/bootstrap-admin.key'));
  const data = ledger.entries.filter(({ unit }) => unit === undefined);
  t.same(data.map(({ path }) => path).toSorted(), [...expected.keys()].toSorted());
  for (const { path, sha256: hash, why } of data) {
    t.equal(hash, sha256(expected.get(path) ?? ''), path);
    t.ok(files.has(path), `${path} is installed`);
    t.not(why, '', path);
  }
});

t.test(
  'units come first in the ledger, which does not list the unit that runs the clean-up',
  async (t) => {
    const { context } = await host(t);
    const { config, ledger } = await installed(context);
    const units = ledger.entries.filter(({ unit }) => unit !== undefined);
    t.same(ledger.entries.slice(0, units.length), units);
    t.same(
      units.map(({ unit }) => unit),
      ['sno-restore.service', 'progress.service'],
    );
    for (const { path, unit, sha256: hash } of units) {
      const contents = pivotUnits.find(({ name }) => name === unit)?.contents ?? '';
      t.equal(path, `/etc/systemd/system/${unit}`);
      t.equal(hash, sha256(contents));
    }
    t.same(
      config.systemd?.units?.map(({ name, enabled }) => [name, enabled]),
      [
        ['bootkube.service', true],
        ['progress.service', true],
        ['sno-restore.service', true],
      ],
    );
  },
);

t.test('the keys to be deleted are exactly those that only the bootstrap needs', async (t) => {
  const { context } = await host(t);
  const { ledger } = await installed(context);
  const gone = rendered.files.filter(({ keyClass }) => keyClass === 'gone');
  t.ok(gone.length > 1);
  t.same(ledger.goneKeys.toSorted(), gone.map(({ contents }) => fingerprint(contents)).toSorted());
});

t.test('deferred manifests are carried over, with the unit that applies them', async (t) => {
  const live = await host(t);
  const { context } = live;
  const folder = '/etc/sno-agents/deferred';
  const till = '{"apiVersion":"e.com/v1","kind":"Till","metadata":{"name":"a"}}';
  live.write(`${folder}/0001.till.a.json`, till, 0o600);
  const { config, files, ledger } = await installed(context);
  t.match(files.get(`${folder}/0001.till.a.json`), { mode: 0o600, bytes: Buffer.from(till) });
  t.equal(config.storage?.directories?.find(({ path }) => path === folder)?.mode, 0o700);
  t.ok(config.systemd?.units?.some(({ name, enabled }) => name === deferredUnit.name && enabled));
  const links = config.storage?.links?.filter(({ path }) => path.endsWith('/bin/sno-deferred'));
  t.same(
    links?.map(({ path, target }) => [path, target]),
    [
      ['/usr/local/bin/sno-deferred', '/var/lib/sno-agents/bin/sno-agents'],
      ['/var/lib/sno-agents/bin/sno-deferred', 'sno-agents'],
    ],
  );
  t.notOk(ledger.entries.some(({ path }) => path.includes('deferred')));
});

t.test('without a log bundle the installation continues', async (t) => {
  const { context } = await host(t);
  rmSync(bundlePath(context));
  const { files, ledger } = await installed(context);
  t.notOk(files.has(BUNDLE));
  t.notOk(ledger.entries.some(({ path }) => path === BUNDLE));
});

t.test(
  'a log bundle that would make the Ignition too large is left out without an error',
  async (t) => {
    const live = await host(t);
    const { context, lines } = live;
    live.write(
      originalMasterPath(context),
      '{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"crio.service"}]}}',
    );
    const logs = randomBytes(1 << 20);
    live.write(bundlePath(context), logs);
    const combine = async (maxIgnitionMiB: number) => {
      const settings = { ...context.settings, maxIgnitionMiB };
      await combinedIgnition.run({ ...context, settings }, live.progress());
      return live.read(MASTER);
    };
    const encoded = logs.toString('base64').slice(0, 60);
    const whole = await combine(4);
    t.match(whole, encoded);
    const exactly = whole.length / 2 ** 20;
    t.match(await combine(exactly), encoded, 'what fits to the last byte');
    t.same(lines, []);
    t.notMatch(await combine(exactly - 2 ** -20), encoded, 'one byte too much');
    t.notMatch(await combine(1), encoded);
    t.match(
      lines.join(''),
      `The log bundle is left out: with it, the Ignition config has ${Math.ceil(exactly)} MiB, the limit is 1 MiB`,
    );
    await t.rejects(combine(0.01), /MiB|bytes|size/, 'too large even without it');
  },
);

t.test('the combined Ignition contains the master, the bootstrap and the identity', async (t) => {
  const live = await host(t);
  const { context } = live;
  const units = '"systemd":{"units":[{"name":"crio.service","enabled":true}]}';
  const named = '{"path":"/etc/hostname","contents":{"source":"data:,another"}}';
  const storage = `"storage":{"files":[${named}]}`;
  live.write(originalMasterPath(context), `{"ignition":{"version":"3.2.0"},${units},${storage}}`);
  const outcome = await live.run(combinedIgnition);
  const text = live.read(MASTER);
  t.same(outcome, { kind: 'done', note: `${Math.ceil(text.length / 1024)} KiB` });
  t.equal(live.mode(MASTER), 0o600, 'it has keys');
  t.equal(await live.holds(combinedIgnition), true);
  const { config: whole } = effectiveConfig(parseConfig(text, 'master.ign'));
  const names = whole.systemd?.units?.map(({ name }) => name) ?? [];
  for (const name of ['crio.service', 'bootkube.service']) t.ok(names.includes(name), name);
  const file = (path: string) => {
    const found = whole.storage?.files?.find((each) => each.path === path);
    return found && decodeDataUrl(found.contents ?? {}).toString();
  };
  t.equal(file('/etc/hostname')?.trim(), context.hostname(), 'the live host wins');
  t.equal(file(`${RESTORE}/etcd-snapshot.db`), 'snapshot');
  t.equal(file(BUNDLE), 'logs');
});

t.test('a missing prerequisite is an error', async (t) => {
  for (const [missing, says] of [
    [identityFolder, /identity does not exist/],
    [snapshotRecordPath, /no record/],
    [snapshotPath, /etcd-snapshot\.db/],
  ] as const) {
    const { context } = await host(t);
    rmSync(missing(context), { recursive: true });
    await t.rejects(
      installedHostConfig(context, { withBundle: true }),
      { message: says, ...(missing === snapshotPath ? {} : { kind: 'fatal' }) },
      missing(context),
    );
  }
});
