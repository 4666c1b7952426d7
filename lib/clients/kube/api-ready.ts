import { describeError, Failure } from '../../base/errors/failure.ts';
import type { Wait } from '../../base/wait/limits.ts';
import { type WaitCondition, waitUntil } from '../../base/wait/wait-until.ts';
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
  const seconds = Math.round(wait.deadlineMs / 1000);
  await waitUntil(apiReady(client, checks), {
    ...wait,
    everyMs: readinessIntervalMs,
    late: ({ state }) =>
      new Failure('deadline', `the API was not ready within ${seconds}s`, {
        expected: `${checks} to return 200`,
        found: state,
      }),
  });
}

const apiReady =
  (client: KubeClient, checks: ApiChecks): WaitCondition<undefined> =>
  async ({ signal, deadlineMs }) => {
    const state = await whyNotReady(client, signal, { deadlineMs, checks });
    return state === undefined ? { met: undefined } : { state };
  };

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
