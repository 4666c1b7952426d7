import { join } from 'node:path';
import { z } from 'zod';
import { isKubeError } from '../../../lib/clients/kube/kube-error.ts';
import { resourcePath, resources } from '../../../lib/clients/kube/resources.ts';
import { type GatherHost, patient } from '../gather-host.ts';
import type { Source, SourceGroup } from '../source.ts';
import { type Api, apiOf } from './api.ts';
import { usual } from './command.ts';
import { fileName } from './container-files.ts';
import { wholeLog } from './container-log.ts';
import { filesBelow } from './file.ts';
import { objectsIn, pages } from './object-list.ts';
import { runtimeView } from './runtime-view.ts';
import { POD_LOGS } from './walk.ts';

/** For containers on other nodes: their kubelets may have a lot, over a slow connection. */
const REMOTE_BYTES = 4 << 20;
const REMOTE_LINES = 20_000;

const REMOTE_MS = 15_000;

const statusSchema = z.looseObject({
  name: z.string(),
  restartCount: z.number(),
  containerID: z.string().optional(),
});
const podSchema = z.looseObject({
  metadata: z.looseObject({ namespace: z.string(), name: z.string() }),
  spec: z.looseObject({ nodeName: z.string().optional() }),
  status: z
    .looseObject({
      containerStatuses: z.array(statusSchema).nullish(),
      initContainerStatuses: z.array(statusSchema).nullish(),
    })
    .default({}),
});

type Pod = z.infer<typeof podSchema>;

/** A log file on this host: `NAMESPACE_POD_UID/CONTAINER/N.log`. */
interface DiskLog {
  readonly place: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly restart: number;
}

/**
 * Pod logs by object name, except those of containers that the runtime lists, which are
 * collected by container id. These are the logs of containers that the runtime has forgotten
 * and, through the API, which asks the kubelets, of containers on other nodes.
 */
export const podLogs: SourceGroup = {
  name: 'pod-logs',
  deadlineMs: 60_000,
  async list(host, signal) {
    const onDisk = await logsOnDisk(host);
    const [forgotten, remote] = await Promise.all([
      forgottenLogs(host, onDisk, signal),
      remoteLogs(host, onDisk, signal),
    ]);
    return [...forgotten, ...remote];
  },
};

const root = ({ paths }: GatherHost) => paths.at('/var/log/pods');

async function logsOnDisk(host: GatherHost): Promise<DiskLog[]> {
  return (await filesBelow(root(host), POD_LOGS)).flatMap((name) => {
    const match = /^([^_/]+)_([^_/]+)_[^_/]+\/([^/]+)\/(\d+)\.log$/.exec(name);
    if (match === null) return [];
    const [, namespace = '', pod = '', container = '', restart = ''] = match;
    return [{ place: join(root(host), name), namespace, pod, container, restart: Number(restart) }];
  });
}

/** None if the runtime does not answer: then the group `containers` collects all logs on disk. */
async function forgottenLogs(
  host: GatherHost,
  onDisk: readonly DiskLog[],
  signal: AbortSignal,
): Promise<Source[]> {
  let listed: ReadonlySet<string>;
  try {
    const { containers } = await runtimeView(host, signal);
    listed = new Set(containers.map(({ status }) => host.paths.at(status?.logPath ?? '')));
  } catch {
    signal.throwIfAborted();
    return [];
  }
  const byContainer = Map.groupBy(onDisk, ({ namespace, pod, container }) =>
    logPath(namespace, pod, container),
  );
  return [...byContainer].flatMap(([path, logs]) => {
    const [current, previous] = logs.toSorted((a, b) => b.restart - a.restart);
    const both: readonly [string, DiskLog | undefined][] = [
      [`${path}.log`, current],
      [`${path}.previous.log`, previous],
    ];
    return both.flatMap(([name, log]) =>
      log === undefined || listed.has(log.place) ? [] : [wholeLog(name, log.place)],
    );
  });
}

async function remoteLogs(
  host: GatherHost,
  onDisk: readonly DiskLog[],
  signal: AbortSignal,
): Promise<Source[]> {
  const here = new Set(onDisk.map(({ namespace, pod }) => `${namespace}/${pod}`));
  const silentNodes = new Map<string, unknown>();
  const sources: Source[] = [];
  try {
    const api = await apiOf(host, signal);
    const lists = pages(api, { path: '/api/v1/pods' }, signal);
    for await (const pod of objectsIn(lists, podSchema)) {
      const { namespace, name } = pod.metadata;
      if (here.has(`${namespace}/${name}`)) continue;
      sources.push(...logRequests(pod).map((request) => remoteLog(api, request, silentNodes)));
    }
  } catch {
    // The group `resources` reports the reason: it lists pods too.
    signal.throwIfAborted();
  }
  return sources;
}

interface LogRequest {
  /** Path in the bundle. */
  readonly path: string;
  readonly node: string;
  readonly place: string;
  readonly container: string;
  readonly isPrevious: boolean;
}

/** For containers that have run at least once. */
function logRequests({ metadata: { namespace, name }, spec, status }: Pod): LogRequest[] {
  const node = spec.nodeName;
  if (node === undefined) return [];
  const all = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  const begun = all.filter(({ containerID = '' }) => containerID !== '');
  const pod = resourcePath(resources.pods, { namespace, name, subresource: 'log' });
  return begun.flatMap(({ name: container, restartCount }) => {
    const path = logPath(namespace, name, container);
    const request = { node, place: pod, container };
    return [
      { ...request, path: `${path}.log`, isPrevious: false },
      { ...request, path: `${path}.previous.log`, isPrevious: true },
    ].slice(0, restartCount > 0 ? 2 : 1);
  });
}

/** `silentNodes`: nodes that are not asked again, with reasons; the API waits for their kubelets. */
function remoteLog(
  api: Api,
  { path, node, place, container, isPrevious }: LogRequest,
  silentNodes: Map<string, unknown>,
): Source {
  return {
    ...usual,
    path,
    phase: 'bulk',
    deadlineMs: 30_000,
    limitBytes: REMOTE_BYTES,
    async *open(here, signal) {
      const { sinceMs } = here;
      if (silentNodes.has(node)) throw silentNodes.get(node);
      const query = new URLSearchParams({
        container,
        timestamps: 'true',
        tailLines: String(REMOTE_LINES),
        limitBytes: String(REMOTE_BYTES),
        ...(isPrevious ? { previous: 'true' } : {}),
        ...(sinceMs === undefined ? {} : { sinceTime: new Date(sinceMs).toISOString() }),
      });
      const call = { method: 'GET', path: `${place}?${query}`, accept: '*/*' } as const;
      try {
        yield* api.client.bytes(call, { signal, deadlineMs: patient(here, REMOTE_MS) });
      } catch (error) {
        if (isKubeError(error, 'unreachable')) silentNodes.set(node, error);
        throw error;
      }
    },
  };
}

const logPath = (namespace: string, pod: string, container: string) =>
  join('resources/pod-logs', fileName(namespace), fileName(pod), fileName(container));
