import { appendFile, copyFile, mkdir, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { ensureComponent } from '../lab/components/component.ts';
import { coreosInstaller } from '../lab/components/coreos-installer.ts';
import { LIVE_ISO, liveIso } from '../lab/components/live-iso.ts';
import { attachLoopDevice, detachLoopDevice } from '../lab/host/loop.ts';
import { repository } from '../lab/paths.ts';
import { payload as payloadComponent } from '../lab/payload.ts';
import { executableMark } from '../lib/engine/agents/executable-mark.ts';
import { readPayload } from '../lib/payload/payload.ts';
import { type Benchmark, NotRunHere } from './benchmark.ts';
import { bundledProgram } from './bundled-program.ts';
import { expectGnuTime, measureProcess } from './measured-process.ts';
import { compare } from './statistics.ts';

const SITES = 20;
/** The other way takes a thousand times the space. */
const WHOLE_SITES = 3;
const ALL_MS = 60 * 60_000;
const DEADLINE_MS = 10 * 60_000;
const DISK_BYTES = 16 * 2 ** 30;
const MIB = 2 ** 20;

interface SiteCost {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly diskMiB: number;
}

/** The ISO of a site from its install-config.yaml. */
export const media: Benchmark = {
  name: 'media',
  compares:
    'the ISO of a site on XFS, from its install-config.yaml: from an ISO that all sites share, compared with one that is put together',
  deadlineMs: ALL_MS,
  async run(signal, { folder, report }) {
    await expectGnuTime();
    const build = { signal, report };
    const installer = await ensureComponent(coreosInstaller, build);
    const live = join(await ensureComponent(liveIso, build), LIVE_ISO);
    const payload = await ensureComponent(payloadComponent, build);
    const executable = join(folder, 'sno-agents');
    await copyFile(process.execPath, executable);
    // A program of about the same size, which is not started.
    await appendFile(executable, executableMark('0.0.0'));
    const sno = await bundledProgram(join(repository, 'cli/main.ts'), folder);
    return onXfs(folder, signal, async (disk) => {
      const env = { SNO_AGENTS_EXECUTABLE: executable, PATH: `${installer}:${process.env.PATH}` };
      const limits = { signal, deadlineMs: DEADLINE_MS, env };
      const run = (...args: string[]) =>
        measureProcess(process.execPath, [sno, ...args], folder, limits);
      const whole = ['--iso', live, '--payload', payload];
      const shared = join(disk, 'shared.iso');
      await run('create', 'shared-iso', ...whole, '--output', shared);
      const site = async (name: string, ...args: string[]): Promise<SiteCost> => {
        const dir = join(disk, name);
        await mkdir(dir);
        await writeFile(join(dir, 'install-config.yaml'), JSON.stringify(installConfig(name)));
        const before = await usedBytes(disk);
        const cost = await run('create', 'single-node-iso', '--dir', dir, ...args);
        return { ...cost, diskMiB: ((await usedBytes(disk)) - before) / MIB };
      };
      const ours: SiteCost[] = [];
      const theirs: SiteCost[] = [];
      for (let at = 0; at < SITES; at++) {
        ours.push(await site(`shared-${at}`, '--shared', shared));
        if (at >= WHOLE_SITES) continue;
        theirs.push(await site(`whole-${at}`, ...whole));
        report(
          `site ${at + 1}: ${ours[at]?.wallSeconds.toFixed(2)} s and ${theirs[at]?.wallSeconds.toFixed(2)} s`,
        );
        await rm(join(disk, `whole-${at}`), { recursive: true });
      }
      const { versions } = await readPayload(payload);
      return { rows: rowsOf(ours, theirs), versions: { kubernetes: versions.kubernetes } };
    });
  },
};

const installConfig = (name: string) => ({
  apiVersion: 'v1',
  baseDomain: 'example.com',
  metadata: { name },
  compute: [{ name: 'worker', replicas: 0 }],
  controlPlane: { name: 'master', replicas: 1 },
  platform: { none: {} },
  bootstrapInPlace: { installationDisk: '/dev/vda' },
  pullSecret: '{"auths":{"fake":{"auth":"aWQ6cGFzcwo="}}}',
});

/** @throws NotRunHere without root and mkfs.xfs */
async function onXfs<T>(
  folder: string,
  signal: AbortSignal,
  use: (disk: string) => Promise<T>,
): Promise<T> {
  const limits = { timeout: DEADLINE_MS };
  const file = join(folder, 'disk.raw');
  await writeFile(file, '');
  await truncate(file, DISK_BYTES);
  const made = await execa('mkfs.xfs', ['-q', '-m', 'reflink=1', file], {
    ...limits,
    reject: false,
  });
  if (made.failed) throw new NotRunHere('mkfs.xfs is missing (Debian package xfsprogs)');
  if (process.getuid?.() !== 0) throw new NotRunHere('mounting needs root');
  const disk = join(folder, 'disk');
  await mkdir(disk);
  const device = await attachLoopDevice(file, {}, signal);
  try {
    await execa('mount', [device, disk], limits);
    try {
      return await use(disk);
    } finally {
      await execa('umount', [disk], limits);
    }
  } finally {
    await detachLoopDevice(device, AbortSignal.timeout(DEADLINE_MS));
  }
}

async function usedBytes(disk: string): Promise<number> {
  await execa('sync', ['--file-system', disk], { timeout: DEADLINE_MS });
  const { blocks, bfree, bsize } = await statfs(disk);
  return (blocks - bfree) * bsize;
}

function rowsOf(ours: readonly SiteCost[], theirs: readonly SiteCost[]) {
  const row = (what: string, unit: string, pick: (cost: SiteCost) => number, note?: string) =>
    compare(
      { what, unit, ...(note === undefined ? {} : { note }) },
      ours.map(pick),
      theirs.map(pick),
    );
  return [
    row('wall time of a site', 's', ({ wallSeconds }) => wallSeconds),
    row('processor time of a site', 's', ({ cpuSeconds }) => cpuSeconds),
    row(
      'space on the disk of a site',
      'MiB',
      ({ diskMiB }) => diskMiB,
      `${ours.length} sites of one shared ISO; the config and the log file count too`,
    ),
  ];
}
