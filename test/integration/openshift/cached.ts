import { join } from 'node:path';
import { type Component, cacheFolder, componentKey } from '../../../lab/components/component.ts';
import { exists } from '../../../lib/host/files.ts';

/** The folder of a component that a scenario has built; undefined if none has. */
export async function cachedFolder(component: Component): Promise<string | undefined> {
  const folder = join(cacheFolder(), 'components', component.name, await componentKey(component));
  return (await exists(folder)) ? folder : undefined;
}
