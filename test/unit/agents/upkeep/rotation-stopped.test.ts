/** A rotation that is told to stop ends with that reason, wherever it waits, and has not failed. */
import t, { type Test } from 'tap';
import { hasUndo } from '../../../../agents/steps/certificates/changes.ts';
import { publishTrust } from '../../../../agents/steps/certificates/published-trust.ts';
import { futurePodsRemoved } from '../../../../agents/upkeep/certificates/future-pods.ts';
import { planRotation } from '../../../../agents/upkeep/rotate/accept.ts';
import { applyPhase } from '../../../../agents/upkeep/rotate/apply.ts';
import { type RotateContext, rotateContext } from '../../../../agents/upkeep/rotate/context.ts';
import { cutOffWorkers } from '../../../../agents/upkeep/rotate/cut-off-workers.ts';
import { podReady } from '../../../../agents/upkeep/rotate/pod-ready.ts';
import { startStalePods } from '../../../../agents/upkeep/rotate/pods.ts';
import { replacePod } from '../../../../agents/upkeep/rotate/replace-pod.ts';
import {
  acceptOwnToken,
  readSecrets,
  rewriteSecrets,
} from '../../../../agents/upkeep/rotate/stored-secrets.ts';
import { restartUnits } from '../../../../agents/upkeep/rotate/units.ts';
import { workers } from '../../../../agents/upkeep/rotate/workers.ts';
import { restartWorkloads } from '../../../../agents/upkeep/rotate/workloads.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { rotationChange, type What } from '../../../../lib/change/rotation/request.ts';
import { ContainerRuntime } from '../../../../lib/clients/cri/runtime.ts';
import type { CallLimits } from '../../../../lib/clients/grpc/client.ts';
import type { Progress } from '../../../../lib/engine/steps/progress.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { controllerManagerTrust } from '../../../../lib/render/kubernetes/kube-controller-manager.ts';
import { schedulerTrust } from '../../../../lib/render/kubernetes/kube-scheduler.ts';
import { issuedLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { textAt } from '../../render/rendered-host.ts';
import { listOf } from '../host/api.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { apiOf, earlierAuthority, podOf } from './earlier-authority.ts';
import { NEW, requested, rotating } from './rotating-host.ts';
import { toldToStop } from './told-to-stop.ts';

const told = new Failure('retry', 'told to stop');
const serving: What = { kind: 'authorities', names: ['serving'] };
const authority = await earlierAuthority();
const BOTH = textAt(controllerManagerTrust.api);
const SECRET = '/api/v1/namespaces/shop/secrets/a';
const TOKEN = 'POST /api/v1/namespaces/kube-system/serviceaccounts/default/token';
const REVIEW = 'POST /apis/authentication.k8s.io/v1/tokenreviews';
const POD = 'DELETE /api/v1/namespaces/shop/pods/web';
const PUBLISHED = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const object = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'shop' },
  ...more,
});
const ANSWERS = {
  'GET /api/v1/secrets': { metadata: {}, items: [object('a')] },
  [`PATCH ${SECRET}`]: {},
  [TOKEN]: { status: { token: 'signed' } },
  [REVIEW]: { status: { authenticated: true } },
  'GET /api/v1/configmaps': listOf(object('kube-root-ca.crt', { data: { 'ca.crt': BOTH } })),
  'GET /api/v1/pods': listOf(podOf('web', 'kube-root-ca.crt', [{ controller: true }])),
  [POD]: {},
  'GET /api/v1/nodes': listOf(),
  [`GET ${PUBLISHED}`]: object('extension-apiserver-authentication', { data: {} }),
  [`PUT ${PUBLISHED}`]: {},
};

type Run = (context: RotateContext, progress: Progress) => Promise<unknown>;
const workload: Run = (context, progress) => restartWorkloads.run(context, progress);
const plan: Run = ({ paths, request }, { signal }) => {
  const { what, restartWorkloads } = request;
  return rotationChange
    .remove(paths)
    .then(() => planRotation(paths, { what, restartWorkloads }, signal));
};

t.test('while the API server does not answer', async (t) => {
  const table: [request: string, run: Run][] = [
    ['GET /api/v1/secrets', rewriteSecrets],
    [`PATCH ${SECRET}`, rewriteSecrets],
    ['GET /api/v1/secrets', readSecrets],
    [TOKEN, acceptOwnToken],
    [REVIEW, acceptOwnToken],
    ['GET /api/v1/configmaps', workload],
    ['GET /api/v1/pods', workload],
    [POD, workload],
    ['GET /api/v1/nodes', (context, progress) => workers.run(context, progress)],
    ['GET /api/v1/nodes', ({ paths }, { signal }) => cutOffWorkers(paths, serving, signal)],
    ['GET /api/v1/nodes', plan],
    ['GET /api/v1/pods', plan],
    [`GET ${PUBLISHED}`, publishTrust],
    [`PUT ${PUBLISHED}`, publishTrust],
  ];
  const { host } = await requested(t, {}, serving);
  host.write(authorityPaths('serving').certificate, authority.certificate);
  const request = host.read(rotationChange.requestPath(host.paths));
  for (const [asked, run] of table) {
    host.write(rotationChange.requestPath(host.paths), request, 0o600);
    const requests: string[] = [];
    await toldToStop(t, asked, async (silent, signal) => {
      const api = await apiOf(t, authority, { ...ANSWERS, [asked]: silent });
      const context = await rotateContext(hostPaths(host.root, { api: api.url }));
      await run(context, host.progress(signal)).finally(() => requests.push(...api.requests));
    });
    t.equal(requests.at(-1), asked, 'nothing is asked any more');
  }
});

t.test('while the container runtime does not answer: the call ends, too', async (t) => {
  const pod = { component: 'etcd', manifest: 'kind: Pod\n' };
  const table: [what: string, run: (host: TestHost, progress: Progress) => Promise<unknown>][] = [
    ['podReady', ({ context }, progress) => podReady(context, pod, progress)],
    ['future-pods', ({ context }, progress) => futurePodsRemoved.run(context, progress)],
  ];
  const { listPodSandboxes } = ContainerRuntime.prototype;
  const signals: AbortSignal[] = [];
  t.capture(
    ContainerRuntime.prototype,
    'listPodSandboxes',
    function (this: ContainerRuntime, limits: CallLimits) {
      signals.push(limits.signal);
      return Reflect.apply(listPodSandboxes, this, [limits]);
    },
  );
  for (const [what, run] of table) {
    await toldToStop(t, what, async (silent, signal) => {
      const host = testHost(t);
      await fakeRuntime(t, host, () => [], { ListPodSandbox: silent });
      await run(host, host.progress(signal));
    });
    t.ok(signals.at(-1)?.aborted, what);
  }
});

t.test('while nft runs', async (t) => {
  const { host, context } = await rotating(t);
  host.programs.give('systemd-run', 'touch "$ROOT/asked"; exec sleep 60');
  const run: Body = ({ signal }) => context.runNft('delete table inet sno-etcd', signal);
  t.match(await host.stoppedAt('/asked', run), { message: /stopped after/ });
});

type Body = (progress: Progress) => Promise<unknown>;

/** Runs it on a host until it says that it waits for something. */
async function stopped(t: Test, host: TestHost, says: RegExp, run: Body) {
  const stop = new AbortController();
  const ended = thrownBy(run(host.progress(stop.signal)));
  await Promise.race([host.said(says), ended]);
  stop.abort(told);
  const error = await ended;
  // Of a timer that is stopped, it is the cause.
  t.equal(error instanceof Failure ? error : Object(error).cause, told, String(says));
}

t.test('while the kubelet stops a pod, and while it starts the next one', async (t) => {
  const host = testHost(t);
  const earlier = '/var/lib/kubelet/pods/5ac3889b9de60a9e0e5d62341eee59b2';
  host.write(`${earlier}/containers/etcd/log`);
  host.write('/etc/kubernetes/manifests/etcd.yaml', 'earlier', 0o600);
  const pod = { component: 'etcd', file: 'etcd.yaml', manifest: 'metadata: {}\n' } as const;
  const run: Body = (progress) => replacePod(host.paths, pod, progress);
  await stopped(t, host, /the earlier pod of etcd to stop/, run);
  host.lines.length = 0;
  void host.said(/the earlier pod of etcd to stop/).then(() => host.remove(earlier));
  await stopped(t, host, /the kubelet to start etcd/, run);
});

t.test('while a kubelet that has just started takes over its pods', async (t) => {
  const { host, context } = await rotating(t);
  host.programs.give('systemctl', 'echo ActiveEnterTimestampMonotonic=99999999999999');
  host.write(schedulerTrust.api, NEW);
  const run: Body = (progress) => startStalePods(context, async () => {}, progress);
  await stopped(t, host, /to take over the running pods/, run);
});

t.test('while systemd restarts a service', async (t) => {
  const kubelet = '/etc/kubernetes/pki/kubelet/api-ca.crt';
  const { certificate } = issuedLeaves.deferred;
  for (const [changed, call] of [
    [kubelet, 'restart kubelet.service'],
    [certificate, 'show sno-deferred.service --property=ActiveState'],
    [certificate, 'restart sno-deferred.service'],
  ] as const) {
    const host = testHost(t);
    const asked = `if [ "$*" = '${call}' ]; then touch "$ROOT/asked"; exec sleep 60; fi`;
    host.programs.give('systemctl', `${asked}\necho ActiveState=active`);
    const run: Body = (progress) => restartUnits([changed], async () => {}, progress);
    t.match(await host.stoppedAt('/asked', run), { message: /stopped after/ }, call);
  }
});

t.test(
  'while the result of a phase is verified: the new files stay, and have not failed',
  async (t) => {
    const { host, context, kubelet } = await rotating(t);
    const stop = new AbortController();
    const verify = async () => {
      stop.abort(told);
      throw new Error('nobody waits for it any more');
    };
    const phase = applyPhase(context, 'use-new', verify, host.progress(stop.signal));
    t.equal(await thrownBy(phase), told);
    t.equal(host.read(schedulerTrust.api), NEW);
    t.ok(await hasUndo(host.paths), 'its end is still to come');
    await applyPhase(context, 'use-new', async () => {}, host.progress());
    t.same([...kubelet.seen], [NEW], 'they are verified again');
    t.notOk(await hasUndo(host.paths));
  },
);
