import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { quickly } from './command.ts';
import { type Host, type HostOptions, hostOf } from './host.ts';
import { runIgnition } from './ignition.ts';
import { attachLoopDevice, detachLoopDevice } from './loop.ts';
import { type Bind, Machine } from './machine.ts';
import { mount, teardownSignal } from './mount.ts';
import { plugIn } from './network.ts';
import { cgroupPrefix } from './run-folder.ts';
import { Teardown } from './teardown.ts';

export interface LiveHostOptions extends HostOptions {
  /** Tree of the live image; never modified. */
  readonly image: string;
  /** Folder with the live medium's contents, read-only at /run/media/iso. Default: empty. */
  readonly medium?: string | undefined;
  /** The ISO whose contents these are, which a machine boots. */
  readonly iso?: string | undefined;
  /** Programs for /usr/bin that are not in the image. */
  readonly programs?: readonly string[];
  /** Ignition config embedded in the live image. */
  readonly ignition?: string;
}

/** Boots a live image: everything the host writes, except to its disk, is discarded at its end. */
export async function bootLiveHost(options: LiveHostOptions, signal: AbortSignal): Promise<Host> {
  const { identity, logs, label, disk, ignition } = options;
  const folder = join(options.folder, label);
  await mkdir(folder, { recursive: true });
  await mkdir(logs, { recursive: true });
  const teardown = new Teardown();
  teardown.add(`remove ${folder}`, () => rm(folder, { recursive: true }));
  try {
    const rootDir = await mountLiveTree(options.image, folder, teardown, signal);
    for (const program of options.programs ?? []) {
      const target = join(rootDir, 'usr/bin', basename(program));
      await quickly('install', ['-m', '0755', program, target], signal);
    }
    if (ignition !== undefined) {
      await runIgnition(
        {
          config: ignition,
          root: rootDir,
          work: join(folder, 'ignition'),
          log: join(logs, `${label}-ignition.log`),
        },
        signal,
      );
    }
    const binds: Bind[] = [];
    if (options.medium !== undefined) {
      binds.push({ source: options.medium, target: '/run/media/iso', readOnly: true });
    }
    if (disk !== undefined) {
      const device = await attachLoopDevice(disk.file, { partitioned: true }, signal);
      teardown.add(`detach ${device}`, () => detachLoopDevice(device, teardownSignal()));
      binds.push(await announceDisk(device, folder));
    }
    const network = await plugIn(identity, teardown, signal);
    const machine = await Machine.boot(
      {
        id: `${cgroupPrefix(options.folder)}${label}`,
        name: identity.name,
        root: rootDir,
        network,
        binds,
        consoleLog: join(logs, `${label}-console.log`),
        journalLog: join(logs, `${label}-journal.log`),
      },
      teardown,
      signal,
    );
    // A live host could only lose writes to its disk; nothing is on it yet.
    return hostOf(machine, options, teardown, async () => undefined);
  } catch (error) {
    await teardown.run();
    throw error;
  }
}

/**
 * An overlay over the image, with /var on a plain folder: containerd's overlay snapshots
 * cannot be on an overlay. CoreOS's live /var is not on one either.
 */
async function mountLiveTree(
  image: string,
  folder: string,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<string> {
  const at = (name: string) => join(folder, name);
  for (const name of ['upper', 'work', 'var']) await mkdir(at(name));
  await quickly('cp', ['-a', join(image, 'var/.'), at('var')], signal);
  const options = [`lowerdir=${image}`, `upperdir=${at('upper')}`, `workdir=${at('work')}`];
  await mount('overlay', at('root'), { type: 'overlay', options }, teardown, signal);
  await mount(at('var'), join(at('root'), 'var'), { options: ['bind'] }, teardown, signal);
  return at('root');
}

/** Input of the image's lab-devices.service, which creates the disk's device node and stable link. */
async function announceDisk(device: string, folder: string): Promise<Bind> {
  const run = join(folder, 'run-lab');
  await mkdir(run);
  await writeFile(join(run, 'disk'), `${basename(device)}\n`);
  return { source: run, target: '/run/lab', readOnly: true };
}
