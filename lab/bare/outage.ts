import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { askThroughout } from '../ask-throughout.ts';
import { readiness, readinessUrl } from '../certificates/readiness.ts';
import type { RunningCluster } from '../checks/check.ts';

const LOOK_MS = 100;
/** Ready for so long without a failure: the restart is over. */
const SETTLED_MS = 8_000;
const RESTART_MS = 3 * 60_000;

/** The API server's answer to a request for its readiness. */
export interface Answer {
  /** When it was asked, in milliseconds. */
  readonly askedMs: number;
  readonly isReady: boolean;
}

/** What clients of the API noticed of a restart, in seconds. */
export interface Disturbance {
  /** For how long it was not ready. */
  readonly outage: number;
  /** From the request for the restart until it was ready for good. */
  readonly until: number;
}

/** The outage of `disturbanceOf`. */
export async function outageOf(
  cluster: Pick<RunningCluster, 'host'>,
  signal: AbortSignal,
  restart: () => Promise<void>,
): Promise<number> {
  return (await disturbanceOf(cluster, signal, restart)).outage;
}

/**
 * Asks the API server from outside for its readiness, on a new connection each time, from before `restart`
 * until it has been ready for a while after that and after the last answer that it was not.
 *
 * @throws Failure (deadline) if it does not become ready again.
 */
export async function disturbanceOf(
  { host }: Pick<RunningCluster, 'host'>,
  signal: AbortSignal,
  restart: () => Promise<void>,
): Promise<Disturbance> {
  const url = readinessUrl(host);
  const answers: Answer[] = [];
  const ask = async () => {
    const askedMs = performance.now();
    answers.push({ askedMs, isReady: (await readiness(url)) === '200' });
  };
  let requestedMs = 0;
  await askThroughout(ask, async () => {
    requestedMs = performance.now();
    await restart();
    const restartedMs = performance.now();
    const until = restartedMs + RESTART_MS;
    while (!isOver(answers, restartedMs, performance.now())) {
      if (performance.now() > until) {
        throw new Failure('deadline', 'the API server has not restarted', {
          found: `${answers.filter(({ isReady }) => !isReady).length} of ${answers.length} answers were not 200`,
        });
      }
      await sleep(LOOK_MS, undefined, { signal });
    }
  });
  const [last = requestedMs] = readyAgain(answers).slice(-1);
  return { outage: unreadyMs(answers) / 1000, until: (last - requestedMs) / 1000 };
}

function isOver(answers: readonly Answer[], restartedMs: number, nowMs: number): boolean {
  const bad = answers.filter(({ isReady }) => !isReady).map(({ askedMs }) => askedMs);
  return nowMs - Math.max(restartedMs, ...bad) > SETTLED_MS;
}

/** From each first request that was not answered with 200 to the next one that was. */
export function unreadyMs(answers: readonly Answer[]): number {
  return outages(answers).reduce((total, { from, to }) => total + to - from, 0);
}

/** When it became ready again, each time. */
const readyAgain = (answers: readonly Answer[]): readonly number[] =>
  outages(answers).map(({ to }) => to);

function outages(answers: readonly Answer[]): { readonly from: number; readonly to: number }[] {
  const found: { from: number; to: number }[] = [];
  let from: number | undefined;
  for (const { askedMs, isReady } of answers.toSorted((a, b) => a.askedMs - b.askedMs)) {
    if (!isReady) from ??= askedMs;
    if (!isReady || from === undefined) continue;
    found.push({ from, to: askedMs });
    from = undefined;
  }
  return found;
}
