import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FIRST_BOOT_FILES, FIRST_BOOT_UNITS, firstBootLeftovers } from '../steps/leftovers.ts';

/**
 * Units, then everything below /opt/openshift: keys, manifests and what was rendered from them. From here on the
 * rendered control plane is no longer read, so that an interrupted clean-up never renders another one.
 */
export const aioLeftovers = firstBootLeftovers(async (paths) => {
  const found = await readdir(paths.assets, { recursive: true, withFileTypes: true });
  const files = found
    .filter((each) => each.isFile())
    .map((each) => paths.onHost(join(each.parentPath, each.name)));
  return [
    ...FIRST_BOOT_UNITS,
    ...files.toSorted().map((path) => [path, 'the control plane was created from it'] as const),
    ...FIRST_BOOT_FILES,
  ];
});
