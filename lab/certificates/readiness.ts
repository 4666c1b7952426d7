import { request } from 'node:https';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { urlHost } from '../../lib/base/network/address.ts';
import { askThroughout } from '../ask-throughout.ts';
import type { RunningCluster } from '../checks/check.ts';
import type { Host } from '../host/host.ts';

const ANSWER_MS = 5_000;

/**
 * Asks the API server from outside for its readiness, on a new connection each time, while `during`
 * runs.
 *
 * @returns how often it was asked.
 * @throws Failure (fatal) if one answer was not 200; the error of `during`.
 */
export async function readyThroughout(
  { host }: RunningCluster,
  signal: AbortSignal,
  during: () => Promise<void>,
): Promise<number> {
  const answers = await askThroughout(() => readiness(readinessUrl(host)), during);
  const bad = answers.filter((answer) => answer !== '200');
  signal.throwIfAborted();
  if (bad.length > 0) {
    throw new Failure('fatal', 'the API server was not always ready', {
      expected: `200 for each of ${answers.length} requests`,
      found: `${bad.length} others, such as ${bad[0]}`,
    });
  }
  return answers.length;
}

export const readinessUrl = ({ identity }: Pick<Host, 'identity'>): string =>
  `https://${urlHost(identity.addresses[0])}:6443/readyz`;

/** The status, or what prevented it. Its certificate is not the question here. */
export function readiness(url: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const options = {
    agent: false,
    rejectUnauthorized: false,
    signal: AbortSignal.timeout(ANSWER_MS),
  };
  request(url, options, (response) => {
    response.resume();
    resolve(`${response.statusCode}`);
  })
    .on('error', (error) => resolve(describeError(error)))
    .end();
  return promise;
}
