import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../lib/errors/failure.ts';
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

/**
 * Asks the API server from outside for its readiness, on a new connection each time, from before `restart`
 * until it has been ready for a while after that and after the last answer that it was not.
 *
 * @returns for how many seconds it was not ready.
 * @throws Failure (deadline) if it does not become ready again.
 */
export async function outageOf(
  { host }: Pick<RunningCluster, 'host'>,
  signal: AbortSignal,
  restart: () => Promise<void>,
): Promise<number> {
  const url = readinessUrl(host);
  const answers: Answer[] = [];
  const ask = async () => {
    const askedMs = performance.now();
    answers.push({ askedMs, isReady: (await readiness(url)) === '200' });
  };
  await askThroughout(ask, async () => {
    const until = performance.now() + RESTART_MS;
    await restart();
    const restartedMs = performance.now();
    while (!isOver(answers, restartedMs, performance.now())) {
      if (performance.now() > until) {
        throw new Failure('deadline', 'the API server has not restarted', {
          found: `${answers.filter(({ isReady }) => !isReady).length} of ${answers.length} answers were not 200`,
        });
      }
      await sleep(LOOK_MS, undefined, { signal });
    }
  });
  return unreadyMs(answers) / 1000;
}

function isOver(answers: readonly Answer[], restartedMs: number, nowMs: number): boolean {
  const bad = answers.filter(({ isReady }) => !isReady).map(({ askedMs }) => askedMs);
  return nowMs - Math.max(restartedMs, ...bad) > SETTLED_MS;
}

/** From each first request that was not answered with 200 to the next one that was. */
export function unreadyMs(answers: readonly Answer[]): number {
  let since: number | undefined;
  let total = 0;
  for (const { askedMs, isReady } of answers.toSorted((a, b) => a.askedMs - b.askedMs)) {
    if (!isReady) since ??= askedMs;
    if (!isReady || since === undefined) continue;
    total += askedMs - since;
    since = undefined;
  }
  return total;
}
