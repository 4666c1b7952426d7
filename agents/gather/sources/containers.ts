import { join } from 'node:path';
import { type GatherHost, own } from '../gather-host.ts';
import type { Source, SourceGroup } from '../source.ts';
import { containerName, fileName, inspection, runtimeLists } from './container-files.ts';
import { logTail, wholeLog } from './container-log.ts';
import { filesBelow, folder } from './file.ts';
import { missing } from './made.ts';
import { podmanSources } from './podman.ts';
import { type ListedContainer, type RuntimeView, runtimeView } from './runtime-view.ts';
import { POD_LOGS } from './walk.ts';

/** Number of log tails for the report. */
const TAILS = 40;

/** Namespaces of control plane pods; the live host's static pods are in kube-system. */
const CONTROL_PLANE = /^(kube-system|openshift-(etcd|kube-.+|apiserver|cluster-version))$/;

/** Containers listed by the runtime or, if it does not answer, their logs on disk; and podman's. */
export const containers: SourceGroup = {
  name: 'containers',
  deadlineMs: 45_000,
  async list(host, signal) {
    const [ofRuntime, ofPodman, kept] = await Promise.all([
      runtimeSources(host, signal),
      podmanSources(host, signal),
      folder(
        own(host, 'containers/bootstrap-control-plane'),
        host.paths.at('/var/log/bootstrap-control-plane'),
        { phase: 'bulk', limitBytes: 32 << 20 },
      ),
    ]);
    return [...ofRuntime, ...ofPodman, ...kept];
  },
};

async function runtimeSources(host: GatherHost, signal: AbortSignal): Promise<Source[]> {
  let view: RuntimeView;
  try {
    view = await runtimeView(host, signal);
  } catch (error) {
    signal.throwIfAborted();
    return [missing(own(host, 'containers/containers.json'), error), ...(await fromDisk(host))];
  }
  const logged = view.containers.flatMap((container) => {
    const place = container.status?.logPath ?? '';
    return place === '' || container.state === 'created'
      ? []
      : [{ container, place: host.paths.at(place) }];
  });
  const telling = new Set(tellingOf(view.containers).slice(0, TAILS));
  const at = (container: ListedContainer, folder = '') =>
    own(host, join('containers', folder, `${containerName(container)}.log`));
  return [
    ...runtimeLists(host, view),
    ...view.containers.map((container) => inspection(host, container)),
    ...logged
      .filter(({ container }) => telling.has(container))
      .map(({ container, place }) => logTail(at(container, 'tails'), place)),
    ...logged.map(({ container, place }) => wholeLog(at(container), place)),
  ];
}

/** Failed containers first, then the control plane: the newest of each, and the failed one before it. */
function tellingOf(all: readonly ListedContainer[]): ListedContainer[] {
  const byPlace = Map.groupBy(all, ({ pod, name }) => `${pod.namespace}/${pod.name}/${name}`);
  const newest = [...byPlace.values()].flatMap((attempts) => attempts.slice(0, 1));
  const recent = [...byPlace.values()].flatMap((attempts) => attempts.slice(0, 2));
  const failed = recent.filter(({ status }) => (status?.exitCode ?? 0) !== 0);
  const ofControlPlane = newest.filter(({ pod }) => CONTROL_PLANE.test(pod.namespace));
  return [...new Set([...failed, ...ofControlPlane])];
}

/** Log folders of the kubelet: `NAMESPACE_POD_UID/CONTAINER/N.log`. */
async function fromDisk(host: GatherHost): Promise<Source[]> {
  const root = host.paths.at('/var/log/pods');
  const logs = (await filesBelow(root, POD_LOGS)).filter((name) =>
    /^[^/]+\/[^/]+\/\d+\.log$/.test(name),
  );
  const ofControlPlane = logs.filter((name) => CONTROL_PLANE.test(name.split('_', 1)[0] ?? ''));
  return [
    ...newestLogs(ofControlPlane)
      .slice(0, TAILS)
      .map((name) => {
        const [pod = '', container = ''] = name.split('/');
        const file = `${fileName(container)}-${fileName(pod)}.log`;
        return logTail(own(host, join('containers/tails', file)), join(root, name));
      }),
    ...logs.map((name) =>
      wholeLog(own(host, join('containers/from-disk', name)), join(root, name)),
    ),
  ];
}

/** The log with the highest number for each container. */
function newestLogs(names: readonly string[]): string[] {
  const number = (name: string) => Number.parseInt(name.split('/')[2] ?? '', 10);
  const byContainer = Map.groupBy(names, (name) => name.split('/').slice(0, 2).join('/'));
  return [...byContainer.values()].flatMap((attempts) =>
    attempts.toSorted((a, b) => number(b) - number(a)).slice(0, 1),
  );
}
