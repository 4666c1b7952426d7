import { setTimeout as sleep } from 'node:timers/promises';
import { readTextIfPresent } from '../../lib/host/files.ts';
import { Failure } from '../../lib/steps/failure.ts';

const LOOK_EVERY_MS = 100;

/** Waits until a host's console or journal, as it is kept outside, has a line like that. */
export async function waitForText(
  path: string,
  text: RegExp,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> {
  const until = Date.now() + deadlineMs;
  while (!text.test((await readTextIfPresent(path)) ?? '')) {
    if (Date.now() > until) {
      throw new Failure('deadline', `${path} does not say ${text.source}`, {
        expected: `within ${deadlineMs / 1000}s`,
      });
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}
