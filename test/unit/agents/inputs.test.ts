/**
 * The inputs that make each step run again: a completed step is not repeated while its input is the
 * same. A missing input keeps results made for another one; a superfluous one regenerates keys.
 */
import t, { type Test } from 'tap';
import { finishAio as aioFinish } from '../../../agents/aiokube/finish.ts';
import { aioHostIdentity } from '../../../agents/aiokube/host-identity.ts';
import { aioKubeletIdentity } from '../../../agents/aiokube/kubelet-identity.ts';
import { aioLeftovers } from '../../../agents/aiokube/leftovers.ts';
import { apiObjects } from '../../../agents/bootkube/handover/api-objects.ts';
import { combinedIgnition } from '../../../agents/bootkube/handover/combined-ignition.ts';
import { finish } from '../../../agents/bootkube/handover/finish.ts';
import { logBundle } from '../../../agents/bootkube/handover/log-bundle.ts';
import { masterIgnition } from '../../../agents/bootkube/handover/master-ignition.ts';
import { quiesce } from '../../../agents/bootkube/handover/quiesce.ts';
import { snapshot } from '../../../agents/bootkube/handover/snapshot.ts';
import { stopEtcd } from '../../../agents/bootkube/handover/stop-etcd.ts';
import { applyDeferred } from '../../../agents/deferred/apply-deferred.ts';
import type { DeferredContext } from '../../../agents/deferred/context.ts';
import { retireDeferred } from '../../../agents/deferred/retire-deferred.ts';
import { bootOrder } from '../../../agents/install-to-disk/boot-order.ts';
import { copyPayload } from '../../../agents/install-to-disk/copy-payload.ts';
import { restart } from '../../../agents/install-to-disk/restart.ts';
import { waitForBootkube } from '../../../agents/install-to-disk/wait-for-bootkube.ts';
import { writeDisk } from '../../../agents/install-to-disk/write-disk.ts';
import { checkIdentity } from '../../../agents/post-reboot/restore/check-identity.ts';
import { placeEtcd } from '../../../agents/post-reboot/restore/place-etcd.ts';
import { restoreDatabase } from '../../../agents/post-reboot/restore/restore-database.ts';
import { retire } from '../../../agents/post-reboot/retire.ts';
import { api } from '../../../agents/steps/api.ts';
import { bootstrapComplete } from '../../../agents/steps/bootstrap-complete.ts';
import { clean } from '../../../agents/steps/clean.ts';
import { complete } from '../../../agents/steps/complete.ts';
import { controlPlane } from '../../../agents/steps/control-plane.ts';
import { etcdServes } from '../../../agents/steps/etcd.ts';
import type { InstallContext } from '../../../agents/steps/host-context.ts';
import { inspectDisk } from '../../../agents/steps/inspect-disk.ts';
import { nodeKubelet, standaloneKubelet } from '../../../agents/steps/kubelet.ts';
import { kubeletIdentity } from '../../../agents/steps/kubelet-identity.ts';
import { applyAllManifests } from '../../../agents/steps/manifests.ts';
import { marker } from '../../../agents/steps/marker.ts';
import { awaitNodeReady } from '../../../agents/steps/node-ready.ts';
import { nodeRole } from '../../../agents/steps/node-role.ts';
import { payload } from '../../../agents/steps/payload.ts';
import { liveChecks, preflight } from '../../../agents/steps/preflight/preflight.ts';
import { record } from '../../../agents/steps/record.ts';
import { render } from '../../../agents/steps/render.ts';
import { servingCertificate } from '../../../agents/steps/serving-certificate.ts';
import { signExpired } from '../../../agents/steps/sign-expired.ts';
import { steadyState } from '../../../agents/steps/steady-state.ts';
import { verifyClean } from '../../../agents/steps/verify-clean.ts';
import { describeError } from '../../../lib/base/errors/failure.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { liveHost } from '../../../lib/render/hosts.ts';
import { leafCatalogue } from '../../../lib/render/kubernetes/leaves.ts';
import type { Rendered } from '../../../lib/render/renderer.ts';
import { testHost } from './host/host.ts';
import { giveRendered, rendered } from './host/rendered.ts';

type Context = InstallContext & DeferredContext;

/** What may change on a host: its description, its settings, rendered data, a file. */
const descriptions = {
  'cluster id': { clusterId: 'another' },
  'payload digest': { payloadSha256: 'b'.repeat(64) },
  'executable digest': { executableSha256: 'b'.repeat(64) },
  workers: { dayOneWorkers: 2 },
  'machine config server': { machineConfigServerUrl: 'https://mcs/config/master' },
} as const;
const settings = {
  'settling window': { settlingWindowMs: 1 },
  'Ignition size': { maxIgnitionMiB: 1 },
} as const;
const changedPod = (component: string): Partial<Rendered> => ({
  staticPods: rendered.staticPods.map((pod) =>
    pod.component === component ? { ...pod, manifest: 'another' } : pod,
  ),
});
const changedFile = (path: string): Partial<Rendered> => ({
  files: rendered.files.map((file) => (file.path === path ? { ...file, contents: 'x' } : file)),
});
const renderings = {
  'etcd pod': changedPod('etcd'),
  'API server pod': changedPod('kube-apiserver'),
  'scheduler pod': changedPod('kube-scheduler'),
  'kubelet file': changedFile('/etc/kubernetes/kubelet.yaml'),
  'other file': changedFile('/etc/kubernetes/other.yaml'),
  'our manifest': { manifests: [{ name: '10-ours.yaml', contents: 'kind: Namespace\n' }] },
} satisfies Record<string, Partial<Rendered>>;
const snapshotRecord = (revision: number) =>
  JSON.stringify({
    ...{ clusterId: '6f0c8f0e-3b1b-4b44-9f0d-0123456789ab', sha256: 'a'.repeat(64), bytes: 8 },
    ...{ revision, hash: 1, compactRevision: 1, etcdVersion: '3.6.8', hostname: 'edge-0' },
    nodeIps: ['192.0.2.10'],
  });
const manifest = (name: string) => `apiVersion: v1\nkind: Namespace\nmetadata: { name: ${name} }\n`;
const files = {
  'manifest of the user': [
    '/opt/openshift/manifests/10-shop.yaml',
    manifest('shop'),
    manifest('b'),
  ],
  'manifest of openshift': ['/opt/openshift/openshift/99-x.yaml', manifest('x'), manifest('y')],
  'broken manifest': ['/opt/openshift/manifests/20-broken.yaml', '', 'kind: [\n'],
  'combined Ignition': ['/opt/openshift/master.ign', 'a', 'b'],
  'master Ignition': ['/opt/openshift/original-master.ign', 'a', 'b'],
  snapshot: ['/opt/openshift/etcd-snapshot.json', snapshotRecord(1), snapshotRecord(2)],
  'restored snapshot': [
    '/var/lib/sno-agents/restore/etcd-snapshot.json',
    snapshotRecord(1),
    snapshotRecord(2),
  ],
  'restored etcd pod': ['/var/lib/sno-agents/restore/etcd-pod.yaml', 'a', 'b'],
} as const;

type Change =
  | keyof typeof descriptions
  | keyof typeof settings
  | keyof typeof renderings
  | keyof typeof files
  | 'disk'
  | 'kernel argument'
  | 'host name'
  | 'expiry';

const DESCRIPTION: readonly Change[] = [
  'cluster id',
  'payload digest',
  'executable digest',
  'machine config server',
  'workers',
  'disk',
  'kernel argument',
];

const table: [step: StepBody<Context>, runsAgainFor: readonly Change[]][] = [
  [inspectDisk, ['cluster id', 'disk', 'kernel argument']],
  [preflight(liveChecks), DESCRIPTION],
  [payload, ['cluster id', 'payload digest']],
  [render(liveHost), DESCRIPTION],
  [standaloneKubelet, ['kubelet file']],
  [etcdServes, ['etcd pod']],
  [controlPlane, ['API server pod', 'scheduler pod']],
  [
    applyAllManifests,
    ['our manifest', 'manifest of the user', 'manifest of openshift', 'broken manifest'],
  ],
  [kubeletIdentity, ['cluster id', 'host name']],
  [apiObjects, ['cluster id']],
  [quiesce, ['cluster id']],
  [snapshot, ['cluster id']],
  [stopEtcd, ['cluster id']],
  [logBundle, ['cluster id']],
  [masterIgnition, ['cluster id', 'machine config server']],
  [combinedIgnition, ['master Ignition', 'snapshot', 'Ignition size']],
  [finish, ['cluster id']],
  [waitForBootkube, ['cluster id']],
  [writeDisk, ['combined Ignition', 'disk', 'kernel argument']],
  [copyPayload, ['cluster id', 'executable digest']],
  [bootOrder, ['cluster id', 'disk']],
  [restart, ['cluster id']],
  // For another cluster there is no input: the record is refused.
  [checkIdentity, ['cluster id', 'restored snapshot']],
  [restoreDatabase, ['cluster id', 'restored snapshot']],
  [placeEtcd, ['restored etcd pod']],
  [api, ['cluster id']],
  [servingCertificate, ['host name']],
  [awaitNodeReady, ['host name']],
  [bootstrapComplete, ['cluster id']],
  [steadyState('post-reboot'), ['settling window']],
  [clean, ['cluster id']],
  [verifyClean, ['cluster id']],
  [record('post-reboot'), ['cluster id']],
  [complete, ['cluster id']],
  [retire, ['cluster id']],
  [marker, ['cluster id']],
  [aioHostIdentity, []],
  [aioKubeletIdentity, ['cluster id', 'host name']],
  [nodeKubelet, ['other file']],
  [nodeRole, ['host name', 'workers']],
  [aioLeftovers, ['cluster id']],
  [aioFinish, ['cluster id']],
  [applyDeferred, ['expiry']],
  [retireDeferred, ['cluster id']],
];

/** A host with all files, and its changes: each returns the inputs while something differs. */
async function host(t: Test) {
  const it = testHost(t);
  await giveRendered(it);
  for (const [path, before] of Object.values(files)) it.write(path, before);
  const context: Context = { ...it.context, expires: new Date(0) };
  type Ask = (context: Context) => Promise<string[]>;
  const installation = (more: Partial<Context['cluster']['installation']>) => (ask: Ask) => {
    const cluster = {
      ...context.cluster,
      installation: { ...context.cluster.installation, ...more },
    };
    return ask({ ...context, cluster });
  };
  const each = <Name extends string, Value>(
    all: Readonly<Record<Name, Value>>,
    change: (value: Value, ask: Ask) => Promise<string[]>,
  ) =>
    Object.entries<Value>(all).map(
      ([name, value]) => [name, (ask: Ask) => change(value, ask)] as const,
    );
  const changes = new Map<string, (ask: Ask) => Promise<string[]>>([
    ...each(descriptions, (more, ask) =>
      ask({ ...context, cluster: { ...context.cluster, ...more } }),
    ),
    ...each(settings, (more, ask) =>
      ask({ ...context, settings: { ...context.settings, ...more } }),
    ),
    ...each<string, Partial<Rendered>>(renderings, async (more, ask) => {
      await giveRendered(it, more);
      const inputs = await ask(context);
      await giveRendered(it);
      return inputs;
    }),
    ...each<string, readonly [string, string, string]>(
      files,
      async ([path, before, after], ask) => {
        it.write(path, after);
        const inputs = await ask(context);
        it.write(path, before);
        return inputs;
      },
    ),
    ['disk', installation({ disk: '/dev/vdb' })],
    ['kernel argument', installation({ kernelArguments: ['nosmt'] })],
    ['host name', (ask) => ask({ ...context, hostname: () => 'edge-1' })],
    ['expiry', (ask) => ask({ ...context, expires: new Date(1) })],
  ]);
  return { context, changes };
}

const inputsIn = (context: Context) =>
  Promise.all(
    table.map(async ([{ input }]) => {
      try {
        return JSON.stringify(await input(context));
      } catch (error) {
        return describeError(error);
      }
    }),
  );

t.test('each step is run again if its input changes, and only then', async (t) => {
  const { context, changes } = await host(t);
  const before = await inputsIn(context);
  const after: [change: string, inputs: string[]][] = [];
  for (const [name, change] of changes) after.push([name, await change(inputsIn)]);
  t.same(await inputsIn(context), before, 'the same again');
  for (const [index, [{ name }, expected]] of table.entries()) {
    const found = after.filter(([, inputs]) => inputs[index] !== before[index]);
    t.same(found.map(([change]) => change).toSorted(), expected.toSorted(), name);
  }
});

t.test('files that do not exist yet are not an error', async (t) => {
  const { context } = testHost(t);
  await t.resolves(Promise.resolve(combinedIgnition.input(context)));
  await t.resolves(Promise.resolve(writeDisk.input(context)));
});

t.test('certificates are checked again when a new kind is added', async (t) => {
  t.same(await signExpired.input(testHost(t).context), leafCatalogue);
});
