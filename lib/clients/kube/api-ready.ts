import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, Failure } from '../../base/errors/failure.ts';
import type { Wait } from '../../base/wait/limits.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import type { Answer } from './transport.ts';

/** Readiness cannot be watched, only polled. */
const readinessIntervalMs = 500;
const requestDeadlineMs = 5000;

/** All of the server's own checks, or only whether it reaches its database. */
export type ApiChecks = '/readyz' | '/livez/etcd';

/**
 * Waits until `checks` returns 200; any other status is not ready. The server's
 * certificate is verified.
 * @throws Failure `deadline` with the checks that failed last.
 */
export async function waitForApi(
  client: KubeClient,
  wait: Wait,
  checks: ApiChecks = '/readyz',
): Promise<void> {
  const { signal, deadlineMs, report } = wait;
  const endsAt = performance.now() + deadlineMs;
  for (let reported: string | undefined; ; ) {
    const reason = await whyNotReady(client, signal, {
      deadlineMs: endsAt - performance.now(),
      checks,
    });
    if (reason === undefined) return;
    if (reason !== reported) report(reason);
    reported = reason;
    if (performance.now() + readinessIntervalMs >= endsAt) {
      throw new Failure(
        'deadline',
        `the API was not ready within ${Math.round(deadlineMs / 1000)}s`,
        {
          expected: `${checks} to return 200`,
          found: reason,
        },
      );
    }
    await sleep(readinessIntervalMs, undefined, { signal });
  }
}

/** Whether the API is ready now. */
export async function isApiReady(
  client: KubeClient,
  signal: AbortSignal,
  checks: ApiChecks = '/readyz',
): Promise<boolean> {
  return (await whyNotReady(client, signal, { checks })) === undefined;
}

interface ReadinessQuery {
  readonly deadlineMs?: number;
  readonly checks?: ApiChecks;
}

/** What keeps the API from being ready now, or undefined when it is. */
export async function whyNotReady(
  client: KubeClient,
  signal: AbortSignal,
  { deadlineMs = requestDeadlineMs, checks = '/readyz' }: ReadinessQuery = {},
): Promise<string | undefined> {
  try {
    const limits = { signal, deadlineMs: Math.min(requestDeadlineMs, deadlineMs) };
    return readinessReason(await client.raw(`${checks}?verbose`, limits), checks);
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return describeError(error);
  }
}

/**
 * The failing checks in a verbose readiness response (`[-]etcd failed: …`), or
 * undefined for status 200.
 */
export function readinessReason(
  { code, body }: Pick<Answer, 'code' | 'body'>,
  checks: ApiChecks = '/readyz',
): string | undefined {
  if (code === 200) return undefined;
  const failing = [...body.matchAll(/^\[-\](\S+)/gm)].map((match) => match[1]);
  return failing.length > 0
    ? `API server checks failing: ${failing.join(', ')}`
    : `${checks} returned ${code}`;
}
