import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { lookUntil } from '../../lib/base/wait/wait-until.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';
import { type Background, hasEnded, startInBackground } from '../host/background.ts';
import { startInCgroup } from '../host/cgroup.ts';
import type { HostOptions } from '../host/host.ts';
import { cgroupPrefix } from '../host/run-folder.ts';
import { Teardown } from '../host/teardown.ts';
import { patient } from '../patience.ts';
import type { Accelerator } from './accelerator.ts';
import { type DiskServer, serveDisk } from './disk-server.ts';
import { GuestAgent } from './guest-agent.ts';
import { startGuestServices } from './guest-services.ts';
import { mountGuestTree } from './guest-tree.ts';
import { MachineHost } from './machine-host.ts';
import { Monitor } from './monitor.ts';
import { type Firmware, IN_FOLDER, qemuArguments } from './qemu-arguments.ts';
import { plugTap } from './tap.ts';
import { startMachineTpm } from './tpm.ts';

const MONITOR_MS = 20_000;
/** Firmware, boot loader, initramfs with Ignition, and the start of systemd. */
const GUEST_UP_MS = 120_000;
const LOOK_EVERY_MS = 250;
const FILES_MS = 20_000;
/** The serial number of its disk, which the lab's installations are told. */
const DISK_SERIAL = 'sno-disk';
const DEFAULTS = { memoryMiB: 4096 } as const;
const PROCESSORS = 2;

export interface MachineOptions extends HostOptions {
  readonly accelerator: Accelerator;
  readonly firmware: Firmware;
  /** ISO in its drive. */
  readonly cd?: string | undefined;
}

/** Turns a machine on, and returns as soon as the lab can run programs in it; systemd is still starting then. */
export async function bootMachine(
  options: MachineOptions,
  signal: AbortSignal,
): Promise<MachineHost> {
  const { identity, logs, label } = options;
  // Short: a path of a unix socket has 107 characters.
  const folder = join(options.folder, label);
  await mkdir(folder, { recursive: true });
  await mkdir(logs, { recursive: true });
  const at = (name: string) => join(logs, `${label}-${name}`);
  const teardown = new Teardown();
  teardown.add(`remove ${folder}`, () => rm(folder, { recursive: true }));
  try {
    const tap = await plugTap(identity, teardown, signal);
    const disk = await attachDisk(options, folder, teardown);
    const tpm = await turnTpmOn(options, folder, teardown, signal);
    const args = qemuArguments({
      ...DEFAULTS,
      ...options,
      ...options.hardware,
      tpm,
      processors: PROCESSORS,
      name: identity.name,
      disks: disk === undefined ? [] : [{ socket: disk.socket, serial: DISK_SERIAL }],
      network: { tap, mac: identity.mac },
      folder,
      consoleLog: at('console.log'),
      journalLog: at('journal.log'),
    });
    const id = `${cgroupPrefix(options.folder)}${label}`;
    const qemu = await startInCgroup(id, () =>
      startInBackground('qemu-system-x86_64', args, at('qemu.log')),
    );
    // Until there is somebody who could ask it to go down.
    teardown.add(`end ${identity.name}`, () => end(qemu));
    const monitor = await Monitor.connect(join(folder, IN_FOLDER.monitor), MONITOR_MS, signal);
    const agent = await GuestAgent.connect(join(folder, IN_FOLDER.agent), MONITOR_MS, signal);
    teardown.add('let go of the machine', async () => {
      monitor.close();
      agent.close();
    });
    await guestIsUp(agent, qemu, at('console.log'), signal);
    // A reset by the firmware is part of a boot; from now on it ends this host, and the next boot is another one.
    await monitor.execute('set-action', { reboot: 'shutdown' });
    const tree = await mountGuestTree(
      {
        socket: join(folder, IN_FOLDER.files),
        target: join(folder, 'root'),
        log: at('files.log'),
      },
      patient(FILES_MS),
      signal,
      () => startGuestServices(agent, patient(FILES_MS), signal),
    );
    teardown.add('unmount its files', () => tree.unmount());
    const host = new MachineHost({ identity, folder, qemu, monitor, agent, tree, disk, teardown });
    teardown.add(`stop ${identity.name}`, () => host.shutDown());
    return host;
  } catch (error) {
    // The error is why there is something to tear down.
    await teardown.run().catch((left: unknown) => process.emitWarning(String(left)));
    throw error;
  }
}

async function attachDisk(
  { disk, logs, label }: MachineOptions,
  folder: string,
  teardown: Teardown,
): Promise<DiskServer | undefined> {
  if (disk === undefined) return undefined;
  const log = join(logs, `${label}-disk.log`);
  const server = await serveDisk(disk.file, { folder, name: 'disk', log });
  teardown.add('take the disk away', () => server.stop());
  return server;
}

async function turnTpmOn(
  { hardware, logs, label }: MachineOptions,
  folder: string,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (hardware?.tpm === undefined) return undefined;
  const socket = join(folder, 'tpm.sock');
  const log = join(logs, `${label}-tpm.log`);
  const turnOff = await startMachineTpm({ state: hardware.tpm, socket, log }, signal);
  teardown.add('turn the TPM off', turnOff);
  return socket;
}

/** Nothing says when the agent begins to listen, so it is asked until it answers. */
async function guestIsUp(
  agent: GuestAgent,
  qemu: Background,
  consoleLog: string,
  signal: AbortSignal,
): Promise<void> {
  const deadlineMs = patient(GUEST_UP_MS);
  const isUp = async () => {
    if (await agent.isUp()) return { met: true };
    return hasEnded(qemu.child) ? { met: false } : { state: 'its guest agent does not answer' };
  };
  const seen = await lookUntil(isUp, { signal, deadlineMs, everyMs: LOOK_EVERY_MS });
  if ('met' in seen && seen.met) return;
  const log = await readTextIfPresent(consoleLog);
  throw new Failure('fatal', 'the machine did not boot', {
    expected: `an answer of its guest agent within ${deadlineMs / 1000}s`,
    found: log?.split('\n').slice(-5).join(' | ') ?? 'nothing on its console',
    fix: `Read ${consoleLog}`,
  });
}

async function end(qemu: Background): Promise<void> {
  qemu.child.kill('SIGKILL');
  await qemu.ended;
}
