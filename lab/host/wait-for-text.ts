import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../lib/errors/failure.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';

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
