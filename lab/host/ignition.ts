import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../../lib/base/errors/failure.ts';
import { mount } from './mount.ts';
import { Teardown } from './teardown.ts';

const runner = '/usr/lib/dracut/modules.d/30ignition/ignition';

/** In the order of the initramfs' units. */
const stages = ['fetch-offline', 'fetch', 'kargs', 'disks', 'mount', 'files', 'umount'];

/** In the namespace's own /run/systemd, accessible to every user. */
const sysroot = '/run/systemd/sno-lab/sysroot';
const noSelinux = join(import.meta.dirname, 'no-selinux');
const STAGE_MS = 120_000;

export interface IgnitionRun {
  /** The config provided by the platform. */
  readonly config: string;
  /** The tree that will be booted. */
  readonly root: string;
  /** An empty folder for Ignition's own state. */
  readonly work: string;
  /** File for its output, which contains the config if a stage fails. */
  readonly log: string;
}

/** Runs all Ignition stages on a tree before its first boot, as an initramfs does. */
export async function runIgnition(
  { config, root, work, log }: IgnitionRun,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(work, { recursive: true });
  const teardown = new Teardown();
  // Ignition writes a user's keys as that user, who may lack access to the folders above the
  // tree.
  await mount(root, sysroot, { options: ['rbind'] }, teardown, signal);
  try {
    await runStages({ config, root: sysroot, work, log }, signal);
  } finally {
    await teardown.run();
  }
}

async function runStages(
  { config, root, work, log }: IgnitionRun,
  signal: AbortSignal,
): Promise<void> {
  const state = [
    ...['-config-cache', join(work, 'cache.json')],
    ...['-neednet', join(work, 'neednet')],
    ...['-state-file', join(work, 'state')],
  ];
  for (const stage of stages) {
    const args = ['-platform', 'file', '-stage', stage, '-root', root, '-log-to-stdout', ...state];
    const { exitCode, all } = await execa(runner, args, {
      env: { IGNITION_CONFIG_FILE: config, PATH: `${noSelinux}:${process.env.PATH}` },
      all: true,
      reject: false,
      cancelSignal: signal,
      timeout: STAGE_MS,
    });
    await appendFile(log, `${all}\n`, { mode: 0o600 });
    if (exitCode !== 0) {
      throw new Failure('fatal', `Ignition's stage "${stage}" failed on ${config}`, {
        found: failureLines(all),
        fix: `Read ${log}`,
      });
    }
  }
}

/** The error, without the config that Ignition prints after it, which contains secrets. */
function failureLines(output: string): string {
  const lines = output.split('\n').filter((line) => /CRITICAL|\(err|: error|failed/i.test(line));
  return lines.slice(0, 5).join(' | ').slice(0, 1500);
}
