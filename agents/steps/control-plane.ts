import { type ApiChecks, isApiReady } from '../../lib/clients/kube/api-ready.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { sha256 } from '../../lib/host/files.ts';
import type { Rendered, StaticPod } from '../../lib/render/renderer.ts';
import { loadRendered } from '../../lib/render/store.ts';
import { awaitApi } from './await-api.ts';
import { staticPodsNeed, withCauses } from './causes.ts';
import type { HostContext } from './host-context.ts';
import { placeStaticPod, waitUntilRunning } from './static-pods.ts';

/** Everything except the database, in start order. */
const controlPlanePods = ({ staticPods }: Rendered) =>
  staticPods.filter(({ role }) => role !== 'database');

/**
 * Its clients start after the API server is ready: one that asks for its Lease before that asks again only
 * after up to 6.6 s (client-go's jitter on its retry period of 3 s).
 */
const awaitsApi = ({ role }: StaticPod) => role === 'leader' || role === 'bootstrap';

/** Those that need no other part of the control plane than the database. */
export const podsBeforeApi = ({ staticPods }: Rendered): StaticPod[] =>
  staticPods.filter((pod) => !awaitsApi(pod));

/**
 * When the API server can be used. That of OpenShift creates no role binding before the definition of
 * RoleBindingRestriction exists, which the step manifests creates. Until then its own roles are
 * missing, for which it is neither ready nor live.
 */
const USABLE: Readonly<Record<Cluster['controlPlane'], ApiChecks>> = {
  kubernetes: '/readyz',
  openshift: '/livez/etcd',
};

/** Starts the API server, then the controller-manager and the scheduler, as static pods. */
export const controlPlane: StepBody<HostContext> = {
  name: 'control-plane',
  leaves: 'an API server that can be used, a running controller-manager and scheduler',
  touches: ['disk', 'api', 'runtime'],
  retries: true,
  async input({ paths }) {
    return controlPlanePods(await loadRendered(paths)).map(({ manifest }) => sha256(manifest));
  },
  async holds(context, progress) {
    const checks = USABLE[context.cluster.controlPlane];
    return context.withAdministrator(progress, (client) =>
      isApiReady(client, progress.signal, checks),
    );
  },
  async run(context, progress) {
    const { paths } = context;
    const pods = controlPlanePods(await loadRendered(paths));
    for (const pod of pods.filter((each) => !awaitsApi(each))) await placeStaticPod(paths, pod);
    const checks = USABLE[context.cluster.controlPlane];
    await awaitApi(context, progress, progress.remainingMs(), checks);
    for (const pod of pods.filter(awaitsApi)) await placeStaticPod(paths, pod);
    const names = pods.map((pod) => pod.container);
    await progress.wait('all of them to be running', () =>
      withCauses(context, staticPodsNeed(...names), progress, ({ signal }) =>
        waitUntilRunning(paths, names, progress, signal),
      ),
    );
    return done();
  },
};
