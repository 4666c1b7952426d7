import { exists } from '../../../lib/host/files.ts';
import type { Source } from '../source.ts';
import { isInstalled } from './programs.ts';

/** A source that needs a program or something at a place of this host. */
type Optional = Source & { readonly program?: string; readonly place?: string };

/** Without those whose program or file this host does not have: that is no failure. */
export async function present(sources: readonly Optional[]): Promise<Source[]> {
  const isPresent = await Promise.all(
    sources.map(
      async ({ program, place }) =>
        (program === undefined || (await isInstalled(program))) &&
        (place === undefined || (await exists(place))),
    ),
  );
  return sources.filter((_, index) => isPresent[index]);
}
