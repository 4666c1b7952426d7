import type { BundleView, Evidence } from '../bundle-view.ts';
import { whereSaid } from './evidence.ts';
import { hostFiles, hostFilesIn } from './hosts.ts';
import { lastLike, RECENT_MS } from './journal.ts';
import type { ApiObject } from './objects.ts';
import { at, listAt, msAt, numberAt, textAt } from './values.ts';

export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly restarts: number;
  /** Why it is waiting, such as `CrashLoopBackOff`. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** Of an API Pod, including its init containers. */
export function containerStatuses({ raw }: ApiObject): ContainerStatus[] {
  return ['initContainerStatuses', 'containerStatuses'].flatMap((list) =>
    listAt(raw, 'status', list).map((status) => {
      const waiting = at(status, 'state', 'waiting');
      return {
        name: textAt(status, 'name') ?? '',
        image: textAt(status, 'image') ?? '',
        restarts: numberAt(status, 'restartCount') ?? 0,
        reason: textAt(waiting, 'reason'),
        message: textAt(waiting, 'message'),
      };
    }),
  );
}

/** A container as reported by the runtime: available even if the API does not answer. */
export interface RuntimeContainer {
  readonly id: string;
  readonly name: string;
  readonly pod: string;
  readonly namespace: string;
  readonly attempt: number;
  readonly isRunning: boolean;
  readonly exitCode?: number | undefined;
  readonly reason?: string | undefined;
  readonly startedMs?: number | undefined;
  readonly evidence: () => Evidence[];
}

/** The newest attempt of each container, and the number of other attempts. */
export function newestContainers(view: BundleView): RuntimeContainer[] {
  const newest = new Map<string, RuntimeContainer>();
  for (const path of hostFiles(view, 'containers/containers.json')) {
    for (const raw of listAt(view.json(path))) {
      const container = runtimeContainer(view, path, raw);
      const key = `${container.namespace}/${container.pod}/${container.name}`;
      const known = newest.get(key);
      if (known === undefined || known.attempt <= container.attempt) newest.set(key, container);
    }
  }
  return [...newest.values()];
}

function runtimeContainer(view: BundleView, path: string, raw: unknown): RuntimeContainer {
  const id = textAt(raw, 'id') ?? '';
  return {
    id,
    name: textAt(raw, 'name') ?? '',
    pod: textAt(raw, 'pod', 'name') ?? '',
    namespace: textAt(raw, 'pod', 'namespace') ?? '',
    attempt: numberAt(raw, 'attempt') ?? 0,
    isRunning: /running/i.test(textAt(raw, 'state') ?? ''),
    exitCode: numberAt(raw, 'exitCode'),
    reason: textAt(raw, 'reason') || undefined,
    startedMs: msAt(raw, 'startedAt'),
    evidence: () => whereSaid(view, path, id),
  };
}

const TELLING =
  /\b[EF]\d{4} \d\d:\d\d:\d\d|"level":"(?:fatal|panic|error)"|level=(?:fatal|error)|panic:|(?:^|Z )Error:|\berror:/;

/** The last error in the log tail of a container that is not long before its end: an earlier one did not end it. */
export function lastError(view: BundleView, { name, id }: RuntimeContainer): Evidence[] {
  const path = hostFilesIn(view, 'containers/').find(
    (file) => file.endsWith('.log') && file.includes(`${name}-${id.slice(0, 12)}`),
  );
  if (path === undefined) return [];
  const [last] = lastLike(view, path, /./);
  const [telling] = lastLike(view, path, TELLING);
  if (last === undefined || telling === undefined) return plainLastError(view, path);
  return [(last.atMs - telling.atMs > RECENT_MS ? last : telling).evidence];
}

/** Of a log without times. */
function plainLastError(view: BundleView, path: string): Evidence[] {
  const line = view.lines(path).findLast((text) => TELLING.test(text)) ?? view.lines(path).at(-1);
  return line === undefined ? [] : whereSaid(view, path, line);
}
