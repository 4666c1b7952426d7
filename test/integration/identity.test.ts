/**
 * A host gets another name and another address: the plan on a real etcd, API server and
 * controller-manager, which run as a kubelet would run them.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import { type IdentityContext, identityContext } from '../../agents/node/identity/context.ts';
import { objects } from '../../agents/node/identity/objects.ts';
import { identityPlan } from '../../agents/node/identity/plan.ts';
import { readLast, readRequest, writeRequest } from '../../agents/node/identity/request.ts';
import { hostContext, signedRights } from '../../agents/steps/host-context.ts';
import { relocatedFile } from '../../lab/servers/relocate.ts';
import { exists } from '../../lib/host/files.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { type Identity, identityOf } from '../../lib/identity/identity.ts';
import { waitForApi } from '../../lib/kube/api-ready.ts';
import { applyManifests } from '../../lib/kube/apply.ts';
import type { KubeClient } from '../../lib/kube/client.ts';
import { decodeManifests } from '../../lib/kube/manifest-decoding.ts';
import { createLogger } from '../../lib/log/logger.ts';
import { inspectCertificate } from '../../lib/pki/certificate.ts';
import { liveHost } from '../../lib/render/hosts.ts';
import { authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import { readRenderInput, saveRenderInput } from '../../lib/render/render-input.ts';
import { placeFiles } from '../../lib/render/store.ts';
import { runAgentCommand } from '../../lib/steps/agent-command.ts';
import { Progress } from '../../lib/steps/progress.ts';
import { cluster } from '../unit/agents/host/cluster.ts';
import { FakePrograms } from '../unit/agents/host/programs.ts';
import { input, rendered, textAt } from '../unit/render/rendered-host.ts';
import { startStandInKubelet } from './backup/stand-in-kubelet.ts';
import { ask } from './control-plane/request.ts';
import { eventually, leafOf } from './control-plane/world.ts';
import { Killed, killedAfter } from './identity/interrupted.ts';

const { signal } = new AbortController();
const folder = await mkdtemp(join(tmpdir(), 'identity-'));
const root = join(folder, 'host');
t.teardown(() => rm(folder, { recursive: true, force: true }));
const kubelet = await startStandInKubelet(root, signal);
t.teardown(() => kubelet.stop());
const at = (port: number) => `https://127.0.0.1:${kubelet.port(port)}`;
const paths = hostPaths(root, { api: at(6443), etcd: at(2379) });
await placeFiles(paths, liveHost, {
  ...rendered,
  files: rendered.files.map((file) => relocatedFile(file, kubelet)),
});
await mkdir(paths.config, { recursive: true });
await writeFile(join(paths.config, 'cluster.json'), JSON.stringify(cluster));
await saveRenderInput(paths, input);
const settings = { retryMs: 200 };
await writeFile(join(paths.config, 'settings.json'), JSON.stringify(settings));
const programs = new FakePrograms(t, join(folder, 'bin'), root, 'real');
programs.give(
  'systemctl',
  'case "$1" in restart|stop|daemon-reload) ;; show) echo 0 ;; *) exit 1 ;; esac',
);
programs.give('hostnamectl', '[ "$1" = set-hostname ] && echo "$2" > "$ROOT/etc/hostname"');
const address = (local: string) => ({ local, prefixlen: 24, scope: 'global' });
const has = (...all: string[]) => {
  const text = JSON.stringify([{ ifname: 'eth0', addr_info: all.map(address) }]);
  programs.give('ip', `echo '${text}'`);
};
for (const { file, manifest } of rendered.staticPods) {
  await writeFile(join(paths.staticPods, file), manifest, { mode: 0o600 });
}

const ca = textAt(authorityPaths('serving').certificate);
const admin = await leafOf('admin', 'tester', { organizations: ['system:masters'] });
const { withAdministrator } = signedRights(await hostContext(paths));
const withApi = <T>(use: (client: KubeClient) => Promise<T>) =>
  withAdministrator({ remainingMs: () => 120_000 }, use);
await withApi((client) => waitForApi(client, { signal, deadlineMs: 120_000, report: () => {} }));

const api = (method: 'GET' | 'POST' | 'DELETE' | 'PATCH', path: string, body?: object) =>
  ask({ port: kubelet.port(6443), ca, ...admin, method, path, ...(body ? { body } : {}) });
const get = async (path: string) => JSON.parse((await api('GET', path)).body);
const code = async (path: string) => (await api('GET', path)).code;
async function create(path: string, body: object) {
  return eventually(`${path} created`, async () => {
    const given = await api('POST', path, body).catch(() => undefined);
    if (given !== undefined && given.code >= 400 && given.code !== 409) t.comment(given.body);
    return given?.code === 201 ? JSON.parse(given.body) : undefined;
  });
}

const NODES = '/api/v1/nodes';
const VOLUMES = '/api/v1/persistentvolumes';
const SHOP = '/api/v1/namespaces/shop';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes';
const from = identityOf(input);
const POD_CIDR = '10.128.0.0/23';

/** What a running node has. */
async function populate(): Promise<{ claim: string }> {
  const manifests = rendered.manifests.flatMap(
    ({ name, contents }) => decodeManifests(name, contents).manifests,
  );
  await withApi((client) =>
    applyManifests(
      client,
      { manifests, faults: [] },
      { signal, deadlineMs: 60_000, concurrency: 4, report: () => {} },
    ),
  );
  const labels = { 'kubernetes.io/hostname': from.hostname, zone: 'a' };
  await create(NODES, {
    metadata: { name: from.hostname, labels, annotations: { note: 'keep' } },
    spec: {
      podCIDR: POD_CIDR,
      podCIDRs: [POD_CIDR],
      taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }],
    },
  });
  await create(LEASES, {
    metadata: { name: from.hostname },
    spec: { holderIdentity: from.hostname },
  });
  await create(CSI_NODES, { metadata: { name: from.hostname }, spec: { drivers: [] } });
  await create('/api/v1/namespaces', { metadata: { name: 'shop' } });
  const size = { storage: '1Gi' };
  const accessModes = ['ReadWriteOnce'];
  const claim = await create(`${SHOP}/persistentvolumeclaims`, {
    metadata: { name: 'data' },
    spec: {
      accessModes,
      storageClassName: 'local',
      volumeName: 'pv-1',
      resources: { requests: size },
    },
  });
  const term = { key: 'kubernetes.io/hostname', operator: 'In', values: [from.hostname] };
  await create(VOLUMES, {
    metadata: { name: 'pv-1', labels: { kind: 'disk' } },
    spec: {
      accessModes,
      capacity: size,
      storageClassName: 'local',
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path: '/data/1' },
      claimRef: { namespace: 'shop', name: 'data', uid: claim.metadata.uid },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [term] }] } },
    },
  });
  await isBound();
  await eventually('the default service account', async () =>
    (await code(`${SHOP}/serviceaccounts/default`)) === 200 ? true : undefined,
  );
  for (const name of ['web', 'last']) await createPod(name, from.hostname);
  return { claim: claim.metadata.uid };
}

const createPod = (name: string, nodeName: string) =>
  create(`${SHOP}/pods`, {
    metadata: { name },
    spec: { nodeName, containers: [{ name, image: 'example.test/web:1' }] },
  });

/** Both sides, by the real controller. */
const isBound = () =>
  eventually('volume and claim to be bound', async () => {
    const volume = await get(`${VOLUMES}/pv-1`);
    const claim = await get(`${SHOP}/persistentvolumeclaims/data`);
    return volume.status.phase === 'Bound' && claim.status.phase === 'Bound' ? true : undefined;
  });

const output = { write: (line: string) => t.comment(line.trim()), isJournal: false };
/** Those that need a kubelet and a runtime are shown in the lab. */
const NEEDS_KUBELET = ['serving-certificate', 'node-ready', 'steady-state'];
function run(...args: string[]) {
  const plan = identityPlan({ ...defaultSettings, ...settings });
  const steps = plan.steps.filter(({ name }) => !NEEDS_KUBELET.includes(name));
  return runAgentCommand(
    { plan: { ...plan, steps }, paths, context: () => identityContext(paths) },
    ['run', ...args],
    output,
  );
}

/** The names and addresses in the certificate that the API server presents. */
async function served(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port: kubelet.port(6443), host: '127.0.0.1', ca }, () => {
    resolve(socket.getPeerCertificate().subjectaltname ?? '');
    socket.end();
  });
  socket.on('error', reject);
  return promise;
}

async function expectIdentity(
  t: Test,
  identity: Identity,
  gone: Identity,
  claim: string,
): Promise<void> {
  const { hostname, nodeIps } = identity;
  const node = await get(`${NODES}/${hostname}`);
  t.match(node, {
    metadata: {
      labels: { zone: 'a', 'kubernetes.io/hostname': hostname },
      annotations: { note: 'keep' },
    },
    spec: { podCIDR: POD_CIDR, podCIDRs: [POD_CIDR] },
  });
  t.ok(node.spec.taints.some(({ key }: { key: string }) => key === 'dedicated'));
  for (const path of [NODES, LEASES, CSI_NODES]) {
    t.equal(await code(`${path}/${gone.hostname}`), 404, `${path} of the old name`);
  }
  t.strictSame(
    (await get(`/api/v1/pods?fieldSelector=spec.nodeName%3D${gone.hostname}`)).items,
    [],
  );
  await isBound();
  const volume = await get(`${VOLUMES}/pv-1`);
  t.match(volume, {
    metadata: { labels: { kind: 'disk' } },
    spec: {
      persistentVolumeReclaimPolicy: 'Retain',
      claimRef: { namespace: 'shop', name: 'data', uid: claim },
      local: { path: '/data/1' },
    },
  });
  const [term] = volume.spec.nodeAffinity.required.nodeSelectorTerms;
  t.strictSame(term.matchExpressions[0].values, [hostname]);
  t.ok(volume.metadata.finalizers.includes('kubernetes.io/pv-protection'));
  const role = await get('/apis/rbac.authorization.k8s.io/v1/clusterroles/sno-agents:csr-approver');
  t.match(JSON.stringify(role.rules), `"resourceNames":["${hostname}"]`);
  const names = await served();
  t.match(names, new RegExp(`DNS:${hostname},`));
  t.match(names, new RegExp(`IP Address:${nodeIps[0].replaceAll('.', '\\.')}(,|$)`));
  t.match(names, `DNS:api.${identity.clusterName}.${identity.baseDomain}`);
  await eventually('the endpoints of the API to have the address', async () => {
    const { subsets = [] } = await get('/api/v1/namespaces/default/endpoints/kubernetes');
    const found = subsets.flatMap(({ addresses }: { addresses: { ip: string }[] }) => addresses);
    return found.some(({ ip }: { ip: string }) => ip === nodeIps[0]) ? true : undefined;
  });
  const client = inspectCertificate(await readFile(paths.at(kubeletPaths.clientPair), 'utf8'));
  t.equal(client.subject.commonName, `system:node:${hostname}`);
  t.equal(await readFile(paths.at('/etc/hostname'), 'utf8'), `${hostname}\n`);
  const environment = await readFile(join(paths.config, 'kubelet.env'), 'utf8');
  t.equal(environment, `KUBELET_NODE_IPS=${nodeIps.join(',')}\n`);
  const now = await readRenderInput(paths);
  t.strictSame(now && identityOf(now), identity);
  t.equal(await readRequest(paths), undefined);
  t.notOk(await exists(paths.at('/etc/systemd/system/kubelet.service.d/50-sno-identity.conf')));
  t.strictSame(
    kubelet.running().toSorted(),
    rendered.staticPods.map((pod) => pod.component).toSorted(),
  );
}

const to: Identity = {
  hostname: 'edge-9',
  nodeIps: ['198.51.100.77'],
  machineNetwork: ['198.51.100.0/24'],
  clusterName: 'shop',
  baseDomain: 'example.org',
};
const { claim } = await populate();

t.test('another name, address and domain, killed after each step', async (t) => {
  has(...from.nodeIps);
  await writeRequest(paths, { from, to });
  for (const step of ['hold', 'files']) {
    // The address is not there yet: nothing was changed.
    if (step === 'hold') {
      const plan = identityPlan({ ...defaultSettings, ...settings, identityCheckMs: 1500 });
      const waits = { plan, paths, context: () => identityContext(paths) };
      t.equal(await runAgentCommand(waits, ['run', '--until', 'check'], output), 3);
      t.same(kubelet.running().length, 4);
      has(...from.nodeIps, ...to.nodeIps);
    }
    t.equal(await run('--until', step), 0, step);
  }
  t.strictSame(kubelet.running().toSorted(), ['etcd', 'kube-apiserver'], 'no controller');
  const dropIn = paths.at('/etc/systemd/system/kubelet.service.d/50-sno-identity.conf');
  t.match(await readFile(dropIn, 'utf8'), /^ExecStart=\nExecStart=\S+ --config=\S+-live\.yaml$/m);
  t.equal(await run('--until', 'objects'), 0);
  t.equal(await run('--until', 'start'), 0);
  t.equal(await run(), 0);
  await expectIdentity(t, to, from, claim);
  t.match(await readLast(paths), { from, to });
  t.same(programs.calls('hostnamectl'), ['hostnamectl set-hostname edge-9']);
});

t.test('killed before each change of an object, it goes on', async (t) => {
  await createPod('web', to.hostname);
  has(...from.nodeIps);
  await create(LEASES, { metadata: { name: to.hostname }, spec: { holderIdentity: to.hostname } });
  await create(CSI_NODES, { metadata: { name: to.hostname }, spec: { drivers: [] } });
  await writeRequest(paths, { from: to, to: from });
  t.equal(await run('--until', 'files'), 0);
  const real = await identityContext(paths);
  const log = createLogger({ write: (line) => t.comment(line.trim()), priorities: false });
  const progress = () =>
    new Progress(signal, performance.now() + 60_000, log, { waiting: () => true });
  let kills = 0;
  for (let isDone = false; !isDone; ) {
    const context: IdentityContext = {
      ...real,
      withAdministrator: (limits, use) =>
        // Each attempt gets one change further than the one before.
        real.withAdministrator(limits, (client) => use(killedAfter(client, kills + 1))),
    };
    try {
      await objects.run(context, progress());
      isDone = true;
    } catch (error) {
      if (!(error instanceof Killed) || kills > 30) throw error;
      kills += 1;
    }
  }
  t.ok(kills >= 3, `${kills} kills, one of them between the end of the volume and its creation`);
  t.equal(await run(), 0);
  await expectIdentity(t, from, to, claim);
});

t.test('another address alone leaves Node and pods', async (t) => {
  const uid = (await get(`${NODES}/${from.hostname}`)).metadata.uid;
  await createPod('web', from.hostname);
  const moved: Identity = { ...from, nodeIps: ['192.0.2.99'] };
  has('192.0.2.99');
  await writeRequest(paths, { from, to: moved });
  t.equal(await run(), 0);
  t.equal((await get(`${NODES}/${from.hostname}`)).metadata.uid, uid);
  t.equal(await code(`${SHOP}/pods/web`), 200);
  t.match(await served(), /IP Address:192\.0\.2\.99/);
  t.notMatch(await served(), /IP Address:192\.0\.2\.10(,|$)/);
});
