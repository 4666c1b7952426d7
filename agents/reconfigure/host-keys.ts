import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { reconfigureFolder } from '../../lib/change/site/places.ts';
import { run } from '../../lib/host/command.ts';
import { exists, writeFilesAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { reloadSshd } from '../../lib/host/sshd.ts';
import { stateFile } from '../../lib/host/state-file.ts';
import type { ReconfigureContext } from './context.ts';

/** As sshd names its files by default (sshd_config(5), HostKey). */
const TYPES = ['rsa', 'ecdsa', 'ed25519'] as const;
const PROGRAM_MS = 60_000;

type Type = (typeof TYPES)[number];
type Context = Pick<ReconfigureContext, 'paths' | 'request' | 'site'>;

const keyPath = (type: Type): string => `/etc/ssh/ssh_host_${type}_key`;
const newKeys = (paths: HostPaths): string => join(reconfigureFolder(paths), 'host-keys');
const noteOf = (paths: HostPaths) =>
  stateFile(join(reconfigureFolder(paths), 'host-keys.json'), z.object({ id: z.string() }), {
    damaged: 'none-if-read',
  });

/** By which clients of SSH know this host: private and public keys, as paths on the host. Empty where the site keeps them. */
export async function renewedHostKeys({
  paths,
  site,
}: Pick<Context, 'paths' | 'site'>): Promise<string[]> {
  const found = site.keepHostKeys ? [] : await typesOf(paths);
  return found.flatMap((type) => [keyPath(type), `${keyPath(type)}.pub`]);
}

/** Whether the host has the keys that this request has made, or is to keep those that it has. */
export async function hasOwnHostKeys(context: Context): Promise<boolean> {
  if ((await renewedHostKeys(context)).length === 0) return true;
  return (await noteOf(context.paths).read())?.id === context.request.id;
}

/**
 * Makes other keys of the same types. The factory, and every node that was made of the same disk, knows the present ones. Whoever is killed
 * begins again: nobody has been shown the keys of a host whose site is not in use yet.
 */
export async function renewHostKeys(context: Context, signal: AbortSignal): Promise<void> {
  const { paths, request } = context;
  if (await hasOwnHostKeys(context)) return;
  const folder = newKeys(paths);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const type of await typesOf(paths)) {
    const file = join(folder, type);
    const args = ['-q', '-t', type, '-N', '', '-C', '', '-f', file];
    await run('ssh-keygen', args, { signal, deadlineMs: PROGRAM_MS });
    const place = (suffix: string) => paths.at(`${keyPath(type)}${suffix}`);
    await writeFilesAtomic([
      { path: place(''), contents: await readFile(file), mode: 0o600 },
      { path: place('.pub'), contents: await readFile(`${file}.pub`), mode: 0o644 },
    ]);
  }
  await rm(folder, { recursive: true, force: true });
  await reloadSshd(signal);
  await noteOf(paths).write({ id: request.id });
}

async function typesOf(paths: HostPaths): Promise<Type[]> {
  const found: Type[] = [];
  for (const type of TYPES) if (await exists(paths.at(keyPath(type)))) found.push(type);
  return found;
}
