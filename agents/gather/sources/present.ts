import { exists } from '../../../lib/host/files.ts';
import { isInstalled } from './programs.ts';

/** What needs a program, or something at a place of this host. */
interface Needs {
  readonly program?: string;
  readonly place?: string;
}

/** Without those whose program or file this host does not have: that is no failure. */
export async function present<T>(all: readonly (T & Needs)[]): Promise<T[]> {
  const isPresent = await Promise.all(
    all.map(
      async ({ program, place }) =>
        (program === undefined || (await isInstalled(program))) &&
        (place === undefined || (await exists(place))),
    ),
  );
  return all.filter((_, index) => isPresent[index]);
}
