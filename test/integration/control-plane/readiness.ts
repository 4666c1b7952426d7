import { askThroughout } from '../../../lab/ask-throughout.ts';
import type { World } from './world.ts';

/** Enough to notice an outage at the end of the work. */
const ANSWERS = 20;

/**
 * Asks /readyz while `during` runs, each time on a new connection, as a client that trusts the API
 * server's first authority. Returns the statuses, or what prevented them.
 */
export const readinessThroughout = (world: World, during: () => Promise<void>) =>
  askThroughout(
    () =>
      world.api({ path: '/readyz' }).then(
        ({ code }): number | string => code,
        (error: unknown) => String(error),
      ),
    during,
    ANSWERS,
  );
