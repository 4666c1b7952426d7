import { exists } from '../../../lib/host/files.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';

/** Requires a program, or a path on this host. */
interface Needs {
  readonly program?: string;
  readonly place?: string;
}

/** Drops items whose program or file this host lacks, which is not a failure. */
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
