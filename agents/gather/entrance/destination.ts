import { lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import type { Encrypter } from 'age-encryption';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { run } from '../../../lib/host/command.ts';
import { ifMissing } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { BundleArchive } from '../bundle/archive.ts';
import type { BundleSink } from '../bundle/bundle-sink.ts';
import { EncryptedOutput } from '../bundle/encrypted-output.ts';
import { BundleFolder } from '../bundle/folder.ts';
import type { GatherArguments } from './command-line.ts';
import { FileOutput, type GatherOutput, type Owner, streamOutput } from './output.ts';
import { shareOfFree } from './workplace.ts';

const REMOVE_MS = 30_000;

/** Where a bundle is to be written. */
export type Destination =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stream' }
  /** New or empty; `replaces`: may overwrite the bundle of an earlier run of the same user. */
  | { readonly kind: 'folder'; readonly path: string; readonly replaces: boolean };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Determines the destination from the arguments and the environment.
 * @throws Failure (usage) if nothing can be written there
 */
export async function destinationOf(
  { entrance, id, to }: Pick<GatherArguments, 'entrance' | 'id' | 'to'>,
  isEncrypted: boolean,
  { TAR_FILE, HOME }: Environment,
  { at }: HostPaths,
): Promise<Destination> {
  if (to === '-') return { kind: 'stream' };
  if (to === undefined && entrance === 'installer-masters-gather.sh') {
    return { kind: 'folder', path: at(`/tmp/artifacts-${id}`), replaces: true };
  }
  const file = TAR_FILE === undefined || TAR_FILE === '' ? undefined : TAR_FILE;
  const home = HOME === undefined || HOME === '' ? homedir() : HOME;
  const asked = to ?? file ?? join(home, `log-bundle-${id}.tar.gz${isEncrypted ? '.age' : ''}`);
  const path = resolve(asked);
  const found = await stat(path).catch(ifMissing);
  if (to !== undefined && (asked.endsWith('/') || found?.isDirectory() === true)) {
    if (found !== undefined && !found.isDirectory()) {
      throw unusable(path, 'a folder', 'a file', '--to');
    }
    if (found !== undefined) await expectEmpty(path, id);
    return { kind: 'folder', path, replaces: false };
  }
  const parent = await stat(dirname(path)).catch(ifMissing);
  if (parent?.isDirectory() !== true) {
    const name = to !== undefined ? '--to' : file !== undefined ? 'TAR_FILE' : 'the home folder';
    throw unusable(dirname(path), 'a folder', parent === undefined ? 'nothing' : 'a file', name);
  }
  return { kind: 'file', path };
}

const unusable = (path: string, expected: string, found: string, by: string) =>
  new Failure('usage', `${path} (${by}) cannot be used for a log bundle`, {
    expected,
    found,
    fix: 'Use another place with --to.',
  });

/** A bundle is never unpacked into a folder with other files. */
async function expectEmpty(path: string, id: string): Promise<void> {
  const [first] = await readdir(path);
  if (first === undefined) return;
  throw new Failure('usage', `${path} (--to) is not empty`, {
    expected: 'a new or empty folder, or a file',
    found: JSON.stringify(first),
    fix: `Use one for the bundle only, such as --to ${join(path, rootOf(id))}/.`,
  });
}

/** Where a bundle was finally written; `note`: why there. */
export interface Written {
  readonly path: string;
  readonly note?: string;
}

/** A destination being written to. */
export interface OpenDestination {
  readonly sink: BundleSink;
  /** Maximum bundle size that the disk has room for. */
  readonly roomBytes: number;
  /** Renames the finished bundle to its final name, where it has one. */
  commit(): Promise<Written | undefined>;
  discard(): Promise<void>;
}

export interface OpenOptions {
  readonly id: string;
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly stdout: Writable;
  /** The caller, if different from the user that the process runs as. */
  readonly owner: Owner | undefined;
  /** Used instead of a folder whose disk is full. */
  readonly refuge: string | undefined;
  /** For those who will read it; a folder is not encrypted. */
  readonly encrypter: Encrypter | undefined;
  readonly signal: AbortSignal;
}

export async function openDestination(
  destination: Destination,
  options: OpenOptions,
): Promise<OpenDestination> {
  if (destination.kind === 'folder') return openFolder(destination, options);
  const { encrypter, id } = options;
  const { output, ...rest } = await openOutput(destination, options);
  const archived =
    encrypter === undefined ? output : await EncryptedOutput.create(encrypter, output);
  return { ...rest, sink: new BundleArchive(rootOf(id), archived, new Date()) };
}

export const rootOf = (id: string): string => `log-bundle-${id}`;

interface OpenOutput extends Omit<OpenDestination, 'sink'> {
  readonly output: GatherOutput;
}

/** Where an archive is written: standard output, the requested file, or a file of that name in the refuge. */
export async function openOutput(
  destination: Exclude<Destination, { kind: 'folder' }>,
  options: OpenOptions,
): Promise<OpenOutput> {
  const { settings, owner, stdout } = options;
  if (destination.kind === 'stream') {
    return {
      output: streamOutput(stdout),
      roomBytes: Number.POSITIVE_INFINITY,
      commit: async () => undefined,
      discard: async () => undefined,
    };
  }
  const { path } = destination;
  const file = await fileWithRoom(path, options);
  const output = await FileOutput.create(file.path, owner);
  return {
    output,
    roomBytes: file.roomBytes,
    async commit() {
      await output.commit();
      if (file.path === path) return { path };
      const why = `${dirname(path)} has less than ${settings.gatherMinFreeMiB} MiB free`;
      return { path: file.path, note: `${why}: the log bundle is not in the requested place` };
    },
    discard: () => output.discard(),
  };
}

async function fileWithRoom(path: string, { settings, refuge }: OpenOptions) {
  const bytes = await shareOfFree(dirname(path), settings);
  if (bytes !== undefined) return { path, roomBytes: bytes };
  if (refuge !== undefined) {
    await mkdir(refuge, { recursive: true, mode: 0o755 });
    const roomBytes = await shareOfFree(refuge, settings);
    if (roomBytes !== undefined) return { path: join(refuge, basename(path)), roomBytes };
  }
  throw new Failure('retry', `there is not enough space for a log bundle in ${dirname(path)}`, {
    expected: `at least ${settings.gatherMinFreeMiB} MiB free`,
    ...(refuge === undefined ? {} : { found: `less, in ${refuge} too` }),
    fix: 'Write it to another computer: ssh HOST sudo gather --to - > log-bundle.tar.gz.',
  });
}

export async function openFolder(
  { path, replaces }: Extract<Destination, { kind: 'folder' }>,
  { owner, settings, signal }: OpenOptions,
) {
  if (replaces) {
    await removeEarlier(path, owner, signal);
    await mkdir(path, { mode: 0o700 });
  } else {
    await mkdir(path, { recursive: true, mode: 0o700 });
  }
  const roomBytes = await shareOfFree(path, settings);
  return {
    sink: new BundleFolder(path, replaces ? owner : undefined),
    // A full disk may still have room for small files; what does not fit becomes an outcome.
    roomBytes: roomBytes ?? settings.gatherMinFreeMiB * 2 ** 20,
    commit: async (): Promise<Written> => ({ path }),
    discard: async () => undefined,
  };
}

/** Only what a run of the same user left: in /tmp any user may have created anything. */
async function removeEarlier(
  path: string,
  owner: Owner | undefined,
  signal: AbortSignal,
): Promise<void> {
  const found = await lstat(path).catch(ifMissing);
  if (found === undefined) return;
  const own = [process.geteuid?.(), owner?.uid];
  if (!found.isDirectory() || !own.includes(found.uid)) {
    throw new Failure('usage', `${path} is in the way`, {
      expected: 'nothing, or the folder of an earlier run of the same user',
      found: found.isSymbolicLink()
        ? 'a link'
        : found.isDirectory()
          ? `a folder of user ${found.uid}`
          : 'a file',
      fix: 'Remove it, or give another --id.',
    });
  }
  // Its owner could replace folders by links meanwhile; rm uses open folders and follows no links.
  await run('rm', ['-rf', '--one-file-system', '--', path], { signal, deadlineMs: REMOVE_MS });
}
