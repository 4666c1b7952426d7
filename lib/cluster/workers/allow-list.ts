import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../../base/errors/failure.ts';
import { isMissing, namesIn } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { type AllowedWorker, readEntry, type WorkersOf } from './entry.ts';

/** The folder of the list: one file for each worker. */
export const workersFolder = ({ config }: Pick<HostPaths, 'config'>): string =>
  join(config, 'workers.d');

/** The list, and what is wrong with files of it. A file with a fault allows nothing. */
export interface AllowList {
  readonly workers: readonly AllowedWorker[];
  /** `PATH: FIELD: what is wrong`. */
  readonly faults: readonly string[];
}

const MOST_FILES = 256;
const MOST_BYTES = 16 * 1024;
const FILE = /^[^.].*\.ya?ml$/;

/**
 * Reads `workers.d/*.yaml`. A file must belong to this process' user, be writable by no other one,
 * be no link, and describe one worker; two files must not describe the same one.
 */
export async function readAllowList(paths: HostPaths, cluster: WorkersOf): Promise<AllowList> {
  const folder = workersFolder(paths);
  let names: string[];
  try {
    names = (await namesIn(folder)).filter((name) => FILE.test(name));
  } catch (error) {
    return { workers: [], faults: [`${folder}: ${describeError(error)}`] };
  }
  if (names.length > MOST_FILES) {
    const found = `${folder}: expected at most ${MOST_FILES} files; found ${names.length}`;
    return { workers: [], faults: [found] };
  }
  const read: Entry[] = [];
  const faults: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const { worker, wrong } = await readFile(path, cluster);
    faults.push(...wrong.map((what) => `${path}: ${what}`));
    if (worker !== undefined) read.push({ path, worker });
  }
  const shared = sharedFaults(read);
  return {
    workers: read.filter(({ path }) => !shared.has(path)).map(({ worker }) => worker),
    faults: [...faults, ...[...shared].map(([path, what]) => `${path}: ${what}`)],
  };
}

interface Entry {
  readonly path: string;
  readonly worker: AllowedWorker;
}

async function readFile(
  path: string,
  cluster: WorkersOf,
): Promise<{ worker?: AllowedWorker; wrong: readonly string[] }> {
  if (!path.endsWith('.yaml')) return { wrong: ['its name must end in .yaml'] };
  try {
    const { text, wrong } = await readOwnText(path);
    if (text === undefined) return { wrong };
    const result = readEntry(text, cluster);
    return 'worker' in result ? { worker: result.worker, wrong: [] } : { wrong: result.faults };
  } catch (error) {
    // Deleted or renamed since the folder was read.
    return { wrong: isMissing(error) ? [] : [describeError(error)] };
  }
}

/** One descriptor for all checks: the file cannot be exchanged between them. */
async function readOwnText(path: string): Promise<{ text?: string; wrong: readonly string[] }> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const found = await file.stat();
  if (!found.isFile()) return { wrong: ['it is not a regular file'] };
  const owner = process.getuid?.() ?? 0;
  const wrong = [
    ...(found.uid === owner ? [] : [`it belongs to user ${found.uid}, not ${owner}`]),
    ...((found.mode & 0o022) === 0 ? [] : ['it can be written by other users']),
    ...(found.size <= MOST_BYTES ? [] : [`it has more than ${MOST_BYTES} bytes`]),
  ];
  if (wrong.length > 0) return { wrong };
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
  return { text: buffer.toString('utf8', 0, bytesRead), wrong: [] };
}

/** By file: what it shares with another one. Which of them is meant is unknown, so none counts. */
function sharedFaults(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const shared = new Map<string, string>();
  for (const { path, worker } of entries) {
    for (const other of entries) {
      if (other.path === path) continue;
      const what = sharedWith(worker, other.worker);
      if (what !== undefined) shared.set(path, `${what} is in ${other.path}, too`);
    }
  }
  return shared;
}

function sharedWith(one: AllowedWorker, other: AllowedWorker): string | undefined {
  if (one.name === other.name) return `name: ${one.name}`;
  const address = one.addresses.find((each) => other.addresses.includes(each));
  if (address !== undefined) return `addresses: ${address}`;
  const isSameKey = one.keySha256 !== undefined && one.keySha256 === other.keySha256;
  return isSameKey ? 'keyFingerprint: this key' : undefined;
}
