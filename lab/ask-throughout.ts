import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 100;

/**
 * Asks ten times a second while `during` runs, and goes on until there are that many answers.
 *
 * @param ask must not reject.
 * @throws the error of `during`.
 */
export async function askThroughout<T>(
  ask: () => Promise<T>,
  during: () => Promise<void>,
  atLeast = 0,
): Promise<T[]> {
  const answers: Promise<T>[] = [];
  const askOnce = async () => {
    answers.push(ask());
    await sleep(EVERY_MS);
  };
  let ended = false;
  const asking = (async () => {
    while (!ended) await askOnce();
  })();
  try {
    await during();
  } finally {
    ended = true;
    await asking;
  }
  while (answers.length < atLeast) await askOnce();
  return Promise.all(answers);
}
