import { promisify } from 'node:util';
import { openFat, SECTOR_BYTES } from '../fat.ts';
import type { Extent } from './extent.ts';

/**
 * Where the data of a file in the top folder lies; undefined if it is not there. The library is asked to write what the file
 * has already: nothing is written, but the sectors are noted. What it would write into folders, such as the
 * time of change, is no part of the file.
 */
export async function fatExtents(
  device: string,
  name: string,
): Promise<readonly Extent[] | undefined> {
  const written: { readonly first: number; readonly data: Buffer }[] = [];
  await using fat = await openFat(device, (first, data) => {
    written.push({ first, data: Buffer.from(data) });
  });
  const { system } = fat;
  const contents = await promisify(system.readFile.bind(system))(`/${name}`).catch(() => undefined);
  if (contents === undefined) return undefined;
  const file = await promisify(system.open.bind(system))(`/${name}`, 'r+');
  await promisify(system.write.bind(system))(file, contents, 0, contents.length, 0);
  const extents: Extent[] = [];
  let at = 0;
  for (const { first, data } of written) {
    if (!contents.subarray(at, at + data.length).equals(data)) continue;
    extents.push({ offset: first * SECTOR_BYTES, bytes: data.length });
    at += data.length;
  }
  return at === contents.length ? extents : undefined;
}
