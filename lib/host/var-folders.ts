import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../base/errors/failure.ts';
import { ifMissing, namesIn } from './files.ts';

/** Where stateroots are: of ostree, and of bootc with composefs alone. */
const STATEROOTS = ['ostree/deploy', 'state/os'] as const;
/** On the boot file system; ostree and bootc keep one entry for each deployment there (Boot Loader Specification). */
const ENTRIES = 'loader/entries';

/** A `/var` of an operating system that is not running. */
export interface VarFolder {
  readonly path: string;
  /** Undefined where the system has none: an ordinary root. */
  readonly stateroot?: string;
}

/** Every `/var` below the mounted root of an operating system that is not running: one for each stateroot. */
export async function varFolders(mountedRoot: string): Promise<VarFolder[]> {
  const found: VarFolder[] = [];
  for (const parent of STATEROOTS.map((path) => join(mountedRoot, path))) {
    const entries = (await readdir(parent, { withFileTypes: true }).catch(ifMissing)) ?? [];
    for (const { name } of entries.filter((entry) => entry.isDirectory())) {
      found.push({ path: join(parent, name, 'var'), stateroot: name });
    }
  }
  return found.length > 0 ? found : [{ path: join(mountedRoot, 'var') }];
}

/**
 * The one of the system that boots next. `entries`: the boot loader's, asked for only if there are several stateroots.
 *
 * @throws Failure (fatal) if they do not tell which
 */
export async function bootingVar(
  folders: readonly VarFolder[],
  entries: () => Promise<readonly string[]>,
): Promise<string> {
  const [first, ...others] = folders;
  if (first !== undefined && others.length === 0) return first.path;
  const stateroot = bootingStateroot(await entries());
  const found = folders.find((folder) => folder.stateroot === stateroot);
  if (found !== undefined) return found.path;
  throw new Failure('fatal', 'the disk has several systems, and it is not known which one boots', {
    expected: `a boot loader entry with ostree=/ostree/boot.N/STATEROOT/..., of one of ${folders.map((folder) => folder.stateroot).join(', ')}`,
    found: stateroot ?? 'none',
  });
}

/** The texts of the boot loader's entries, below a mounted boot file system. */
export async function bootEntries(mountedBoot: string): Promise<string[]> {
  const folder = join(mountedBoot, ENTRIES);
  const names = (await namesIn(folder)).filter((name) => name.endsWith('.conf'));
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
}

/** Of the entry with the highest version, which the boot loader takes. */
function bootingStateroot(entries: readonly string[]): string | undefined {
  const versionOf = (text: string) => Number(/^version\s+(\d+)\s*$/m.exec(text)?.[1] ?? 0);
  const [newest = ''] = entries.toSorted((a, b) => versionOf(b) - versionOf(a));
  return /^options\s.*\bostree=\/ostree\/boot\.\d+(?:\.\d+)?\/([^/\s]+)\//m.exec(newest)?.[1];
}
