import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn } from '../files.ts';

/** A boot loader on an EFI system partition. */
export interface Loader {
  /** In the firmware's notation: `\EFI\redhat\shimx64.efi`. */
  readonly path: string;
  /** The name of the operating system in boot menus. */
  readonly label: string;
}

/** The UEFI suffixes of the supported architectures (specification 3.5.1.1). */
const SUFFIX: Readonly<Record<string, string>> = { x64: 'x64', arm64: 'aa64' };
/** Preferred over others where several systems share a partition. */
const VENDORS = ['redhat', 'fedora', 'centos'];
const FALLBACK = 'boot';

/**
 * Finds the loader on a mounted EFI system partition: the vendor's shim, which
 * Secure Boot accepts, otherwise the fallback that all firmware starts. Names are
 * compared case-insensitively, like FAT. `arch` is Node's.
 */
export async function findLoader(esp: string, arch: string): Promise<Loader | undefined> {
  const suffix = SUFFIX[arch];
  const efi = await entryIn(esp, 'efi');
  if (suffix === undefined || efi === undefined) return undefined;
  const vendors = (await namesIn(join(esp, efi))).toSorted((a, b) => rank(a) - rank(b));
  for (const vendor of vendors) {
    const isFallback = vendor.toLowerCase() === FALLBACK;
    const file = isFallback ? `boot${suffix}.efi` : `shim${suffix}.efi`;
    const loader = await entryIn(join(esp, efi, vendor), file);
    if (loader === undefined) continue;
    const label = isFallback ? undefined : await labelOf(join(esp, efi, vendor), suffix, loader);
    return { path: `\\${efi}\\${vendor}\\${loader}`, label: label ?? 'Linux' };
  }
  return undefined;
}

function rank(folder: string): number {
  const name = folder.toLowerCase();
  if (name === FALLBACK) return VENDORS.length + 1;
  return VENDORS.includes(name) ? VENDORS.indexOf(name) : VENDORS.length;
}

/**
 * The label that shim's fallback program would use: the second field of the
 * loader's line in `BOOTX64.CSV`, which is UTF-16. With the same label, the
 * fallback does not create a second entry.
 */
async function labelOf(
  folder: string,
  suffix: string,
  loader: string,
): Promise<string | undefined> {
  const name = await entryIn(folder, `boot${suffix}.csv`);
  if (name === undefined) return undefined;
  const bytes = await readFile(join(folder, name));
  const text = bytes.toString('utf16le').replace(/^\uFEFF/, '');
  const fields = text.split(/\r?\n/).map((line) => line.split(','));
  const label = fields.find(([file]) => file?.toLowerCase() === loader.toLowerCase())?.[1]?.trim();
  return label === undefined || !/^[\w .-]{1,64}$/.test(label) ? undefined : label;
}

const entryIn = async (folder: string, wanted: string): Promise<string | undefined> =>
  (await namesIn(folder)).find((name) => name.toLowerCase() === wanted);
