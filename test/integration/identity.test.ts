/**
 * A host gets another name and another address: the plan on a real etcd, API server and
 * controller-manager, which run as a kubelet would run them.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import { type IdentityContext, identityContext } from '../../agents/upkeep/identity/context.ts';
import { identityObjects } from '../../agents/upkeep/identity/objects.ts';
import { identityPlan } from '../../agents/upkeep/identity/plan.ts';
import { createLogger } from '../../lib/base/log/logger.ts';
import { type Identity, identityOf } from '../../lib/change/identity/identity.ts';
import { identityChange, requestIdentity } from '../../lib/change/identity/request.ts';
import { runAgentCommand } from '../../lib/engine/steps/agent-command.ts';
import { Progress } from '../../lib/engine/steps/progress.ts';
import { exists } from '../../lib/host/files.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { inspectCertificate } from '../../lib/pki/certificate.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import { readRenderInput } from '../../lib/render/render-input.ts';
import { input, rendered } from '../unit/render/rendered-host.ts';
import { eventually } from './control-plane/world.ts';
import { settings, startHost } from './identity/host.ts';
import { Killed, killedAfter } from './identity/interrupted.ts';
import {
  CSI_NODES,
  createPod,
  isBound,
  LEASES,
  NODES,
  POD_CIDR,
  populate,
  SHOP,
  VOLUMES,
} from './identity/populated.ts';

const host = await startHost(t, rendered, input);
const { paths, kubelet, programs, ca, has, get, code, create } = host;
const from = identityOf(input);

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
    status: { allocatable: { pods: '110' } },
  });
  t.ok(node.spec.taints.some(({ key }: { key: string }) => key === 'dedicated'));
  for (const path of [NODES, LEASES, CSI_NODES]) {
    t.equal(await code(`${path}/${gone.hostname}`), 404, `${path} of the old name`);
  }
  t.strictSame(
    (await get(`/api/v1/pods?fieldSelector=spec.nodeName%3D${gone.hostname}`)).items,
    [],
  );
  await isBound(host);
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
  t.equal(await identityChange.read(paths), undefined);
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
const { claim } = await populate(host, rendered, from.hostname);

t.test('another name, address and domain, killed after each step', async (t) => {
  has(...from.nodeIps);
  await requestIdentity(paths, { from, to });
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
  t.match(await identityChange.last(paths), { from, to });
  t.same(programs.calls('hostnamectl'), ['hostnamectl set-hostname edge-9']);
});

t.test('killed before each change of an object, it goes on', async (t) => {
  await createPod(host, 'web', to.hostname);
  has(...from.nodeIps);
  await create(LEASES, { metadata: { name: to.hostname }, spec: { holderIdentity: to.hostname } });
  await create(CSI_NODES, { metadata: { name: to.hostname }, spec: { drivers: [] } });
  await requestIdentity(paths, { from: to, to: from });
  t.equal(await run('--until', 'files'), 0);
  const real = await identityContext(paths);
  const log = createLogger({ write: (line) => t.comment(line.trim()), priorities: false });
  const progress = () =>
    new Progress(AbortSignal.timeout(60_000), performance.now() + 60_000, log, {
      waiting: () => true,
    });
  let kills = 0;
  for (let isDone = false; !isDone; ) {
    const context: IdentityContext = {
      ...real,
      withAdministrator: (limits, use) =>
        // Each attempt gets one change further than the one before.
        real.withAdministrator(limits, (client) => use(killedAfter(client, kills + 1))),
    };
    try {
      await identityObjects.run(context, progress());
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
  await createPod(host, 'web', from.hostname);
  const moved: Identity = { ...from, nodeIps: ['192.0.2.99'] };
  has('192.0.2.99');
  await requestIdentity(paths, { from, to: moved });
  t.equal(await run(), 0);
  t.equal((await get(`${NODES}/${from.hostname}`)).metadata.uid, uid);
  t.equal(await code(`${SHOP}/pods/web`), 200);
  t.match(await served(), /IP Address:192\.0\.2\.99/);
  t.notMatch(await served(), /IP Address:192\.0\.2\.10(,|$)/);
});
