import { copyFile, mkdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { run } from '../../lib/host/command.ts';
import type { Host } from '../host/host.ts';

/** Home of the user that an installer logs in as. */
const HOME = join('/home', 'core');

/** Maximum duration of a gather, whatever the state of the host. */
const DEADLINE_MS = 120_000;

export interface Bundle {
  /** Where the top-level folder of the log bundle is unpacked. */
  readonly folder: string;
  /** Paths in the archive, in order, relative to `log-bundle-ID/`. */
  readonly paths: readonly string[];
  readonly seconds: number;
}

export interface Collecting {
  /** Command line on the host, as entered by the user core after logging in. */
  readonly command: string;
  readonly id: string;
  /** Expected path. Default: in the home of core. */
  readonly archive?: string;
  /** On a real file system; emptied first. */
  readonly folder: string;
  /** Where the archive is kept with the results of the run. */
  readonly out: string;
}

/** Makes a bundle on the host, as the installer does over SSH, and unpacks it with tar. */
export async function collectBundle(
  host: Host,
  { command, id, archive = join(HOME, `log-bundle-${id}.tar.gz`), folder, out }: Collecting,
  signal: AbortSignal,
): Promise<Bundle> {
  const began = performance.now();
  const { exitCode, stdout, stderr } = await host.exec(
    ['runuser', '--login', 'core', '--command', command],
    { timeoutMs: DEADLINE_MS },
    signal,
  );
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (exitCode !== 0 || last !== `Log bundle written to ${archive}`) {
    throw new Failure('fatal', `"${command}" did not create ${archive}`, {
      found: `exit code ${exitCode} | ${last} | ${stderr.slice(-400)}`,
    });
  }
  // As seen by the host itself, with its mounts.
  const path = join(host.ownView, archive);
  return { ...(await takeBundle(path, { id, folder, out }, signal)), seconds };
}

/** Copies an archive from its host and unpacks it. */
export async function takeBundle(
  path: string,
  { id, folder, out }: Pick<Collecting, 'id' | 'folder' | 'out'>,
  signal: AbortSignal,
): Promise<Omit<Bundle, 'seconds'>> {
  await expectPrivate(path, basename(path));
  const kept = join(out, `log-bundle-${id}.tar.gz`);
  await copyFile(path, kept);
  await rm(path);
  const paths = await unpack(kept, folder, signal);
  return { folder: join(folder, `log-bundle-${id}`), paths: paths.map(below(id)) };
}

async function expectPrivate(path: string, archive: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o777) === 0o600) return;
  throw new Failure('fatal', `${archive} is readable by other users`, {
    expected: '0600',
    found: `0${(mode & 0o777).toString(8)}`,
  });
}

async function unpack(archive: string, folder: string, signal: AbortSignal): Promise<string[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const args = ['--extract', '--gzip', '--verbose', '--file', archive, '--directory', folder];
  const listing = await run('tar', args, { signal, deadlineMs: 60_000 });
  return listing.split('\n').filter((line) => line !== '');
}

const below = (id: string) => (path: string) => {
  const root = `log-bundle-${id}/`;
  if (path.startsWith(root)) return path.slice(root.length);
  throw new Failure('fatal', 'the archive has more than one top-level folder', {
    expected: root,
    found: path,
  });
};
