/** What can go wrong around a plan of a running host. Each lasts while `look` runs and is then undone. */
import { copyFile, mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { AgentName } from '../../../lib/engine/agents/table.ts';
import { apiHanging, diskFull, type State } from '../../bundle/states.ts';
import type { Host } from '../../host/host.ts';
import { onHost } from '../../host/on-host.ts';
import { stepJournal } from '../../host/wait-for-step.ts';
import type { Installation } from '../../installation.ts';

const COMMAND_MS = 60_000;
/** Of Debian's package libfaketime, on the lab's machine. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const FAKETIME_ON_HOST = '/var/lib/libfaketime.so.1';
/** A tenth of what a bad SD card writes. */
const SLOW_BYTES_PER_SECOND = 512 * 1024;

const running = ({ host }: Installation): Host => {
  if (host === undefined) throw new Error('no host is running');
  return host;
};

/** etcd keeps its connections and answers nothing, as on a disk that has stopped to write. */
const etcdHanging: State = async (run, signal, look) => {
  const host = running(run);
  const pid = await onHost(host, ['pidof', '-s', 'etcd'], signal);
  await onHost(host, ['kill', '-STOP', pid], signal);
  try {
    await look();
  } finally {
    // The kubelet may have killed it meanwhile because its probe was not answered.
    await host.exec(['kill', '-CONT', pid], { timeoutMs: COMMAND_MS }, signal);
  }
};

/** etcd is killed; the kubelet starts it again. */
const etcdKilled: State = async (run, signal, look) => {
  const host = running(run);
  await onHost(
    host,
    ['kill', '-KILL', await onHost(host, ['pidof', '-s', 'etcd'], signal)],
    signal,
  );
  await look();
};

/** Every question to a name server waits for its time limit. */
const dnsGone: State = async (run, signal, look) => {
  const { rootDir } = running(run);
  const path = join(rootDir, 'etc/resolv.conf');
  const link = await readlink(path).catch(() => undefined);
  const file =
    link === undefined ? path : join(rootDir, link.startsWith('/') ? link : `etc/${link}`);
  const before = await readFile(file, 'utf8');
  // TEST-NET-1 (RFC 5737): no host of the site has it.
  await writeFile(file, 'nameserver 192.0.2.1\n');
  try {
    await look();
  } finally {
    await writeFile(file, before);
  }
  signal.throwIfAborted();
};

/** What is written to the host's disk takes its time. */
const slowDisk: State = async (run, signal, look) => {
  const partition = await onHost(
    running(run),
    ['findmnt', '-n', '-o', 'MAJ:MIN', '-T', '/var'],
    signal,
  );
  const device = await readlink(`/sys/dev/block/${partition}`);
  const disks = await readdir('/sys/block');
  const disk = [basename(device), basename(dirname(device))].find((name) => disks.includes(name));
  const number = (await readFile(`/sys/block/${disk}/dev`, 'utf8')).trim();
  const limit = '/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device';
  await writeFile(limit, `${number} ${SLOW_BYTES_PER_SECOND}\n`);
  try {
    await look();
  } finally {
    await writeFile(limit, `${number} 0\n`);
  }
};

/** The clock of one unit is wrong by days; everything else on the host has the right one. */
export const clockOff =
  (unit: string, days: number): State =>
  async (run, signal, look) => {
    const host = running(run);
    const dropin = join(host.rootDir, `etc/systemd/system/${unit}.service.d/90-clock.conf`);
    const offset = `${days > 0 ? '+' : ''}${days}d`;
    const environment = [
      ...[`LD_PRELOAD=${FAKETIME_ON_HOST}`, `FAKETIME=${offset}`],
      // Time limits use the clock that nobody can set.
      ...['FAKETIME_DONT_FAKE_MONOTONIC=1', 'FAKETIME_DISABLE_SHM=1'],
      // systemd-run and udevadm do not see the end of what they wait for by another clock than systemd's.
      'FAKETIME_ONLY_CMDS=sno-agents',
    ];
    await copyFile(FAKETIME, join(host.rootDir, FAKETIME_ON_HOST));
    await mkdir(dirname(dropin), { recursive: true });
    await writeFile(dropin, `[Service]\nEnvironment=${environment.join(' ')}\n`);
    const reload = () => onHost(host, ['systemctl', 'daemon-reload'], signal);
    await reload();
    try {
      await look();
    } finally {
      await rm(dropin);
      await reload();
    }
  };

/** The step journal of an agent ends in the middle of an entry, as after a power cut on a bad disk. */
export const journalTorn =
  (agent: AgentName): State =>
  async (run, _, look) => {
    const path = stepJournal(running(run).rootDir, agent);
    const text = await readFile(path, 'utf8').catch(() => '{"step":"none"}\n');
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${text.slice(0, Math.max(1, text.length - 40))}\0\0\0`);
    await look();
  };

/** A file has only its first half. */
export const halfWritten =
  (pathOn: (host: Host) => Promise<string>): State =>
  async (run, _, look) => {
    const host = running(run);
    const path = join(host.rootDir, await pathOn(host));
    const contents = await readFile(path);
    const half = contents.subarray(0, Math.floor(contents.length / 2));
    await writeFile(path, half);
    try {
      await look();
    } finally {
      // As a person does who was told of it; what a plan has replaced stays.
      if ((await readFile(path)).equals(half)) await writeFile(path, contents);
    }
  };

/** Nothing more reaches the disk; then the host starts again, and goes on by itself as far as it does. */
const powerCut: State = async (run, signal, look) => {
  await running(run).powerCut();
  run.host = undefined;
  signal.throwIfAborted();
  await bootAgain(run);
  await look();
};

/** Each boot has its own logs. */
export const nextBoot = (run: Installation): string => `boot-${run.journals.length + 1}`;

export const bootAgain = (
  run: Installation,
  early?: (host: Host) => Promise<void>,
): Promise<Host> => run.bootInstalled(nextBoot(run), early);

export const faultsOfHost = {
  'disk full': diskFull,
  'API hanging': apiHanging,
  'etcd hanging': etcdHanging,
  'etcd killed': etcdKilled,
  'DNS gone': dnsGone,
  'slow disk': slowDisk,
  'power cut': powerCut,
} as const satisfies Readonly<Record<string, State>>;
