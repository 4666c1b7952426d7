import type { Limits, Wait } from '../base/wait/limits.ts';
import type { KubeClient } from '../clients/kube/client.ts';
import { isAfter } from '../clients/kube/node-ready.ts';
import { type Pod, resources } from '../clients/kube/resources.ts';
import { watchUntil } from '../clients/kube/watch-objects.ts';
import { addOnLabel } from './add-ons.ts';

interface ThisBoot {
  /** Only pods that were started since count: after a restart the API still has the states from before. */
  readonly bootTime: Date;
}

/** Waits until each of these add-ons has a Ready pod of this boot. */
export async function addOnsReady(
  client: KubeClient,
  names: readonly string[],
  { bootTime, ...limits }: Wait & ThisBoot,
): Promise<void> {
  const notReady = (pods: ReadonlyMap<string, Pod>) =>
    whyNotAllReady(names, [...pods.values()], bootTime);
  await watchUntil(
    client,
    resources.pods,
    { labelSelector: addOnLabel },
    (pods) => (notReady(pods).length === 0 ? true : undefined),
    {
      ...limits,
      what: `${names.join(', ')} to be ready`,
      describe: (pods) => notReady(pods).join('; ') || 'ready',
    },
  );
}

/** Whether each of these add-ons has one now. */
export async function areAddOnsReady(
  client: KubeClient,
  names: readonly string[],
  { bootTime, ...limits }: Limits & ThisBoot,
): Promise<boolean> {
  const { items } = await client.list(resources.pods, { labelSelector: addOnLabel }, limits);
  return whyNotAllReady(names, items, bootTime).length === 0;
}

const whyNotAllReady = (names: readonly string[], pods: readonly Pod[], bootTime: Date): string[] =>
  names.flatMap((name) => whyNotReady(name, pods, bootTime) ?? []);

/** What keeps an add-on from being ready, or undefined if it is. */
function whyNotReady(name: string, all: readonly Pod[], bootTime: Date): string | undefined {
  const pods = all.filter(({ metadata }) => metadata.labels?.[addOnLabel] === name);
  if (pods.some((pod) => isReady(pod, bootTime))) return undefined;
  const [pod] = pods;
  if (pod === undefined) return `${name} has no pod`;
  return `${name} is not ready: ${whyPodWaits(pod) ?? 'not started in this boot'}`;
}

/** What the scheduler or the kubelet says of a pod that is not ready. */
export function whyPodWaits({ status }: Pod): string | undefined {
  const { conditions = [], containerStatuses = [] } = status ?? {};
  return [
    ...containerStatuses.map(({ state }) => state?.waiting),
    ...conditions.filter((condition) => condition.status !== 'True'),
  ].flatMap((each) => each?.message ?? each?.reason ?? [])[0];
}

function isReady({ status, metadata }: Pod, bootTime: Date): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const ready = status?.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  const containers = status?.containerStatuses ?? [];
  return (
    ready === true && containers.every(({ state }) => isAfter(state?.running?.startedAt, bootTime))
  );
}
