import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from './world.ts';

/**
 * Asks /readyz ten times a second, each time on a new connection, as a client that trusts the API
 * server's first authority. The result stops it, after that many answers at the earliest.
 */
export function askReadiness(world: World) {
  const answers: (number | string)[] = [];
  let enough = Number.POSITIVE_INFINITY;
  const asking = (async () => {
    while (answers.length < enough) {
      const answer = await world.api({ path: '/readyz' }).then(
        ({ code }) => code,
        (error: unknown) => String(error),
      );
      answers.push(answer);
      await sleep(100);
    }
  })();
  return async (atLeast: number) => {
    enough = atLeast;
    await asking;
    return answers;
  };
}
