import { EXIT } from '../../../lib/errors/exit-codes.ts';
import { Failure } from '../../../lib/errors/failure.ts';
import { expectRefusal } from '../../faults/refusal.ts';
import type { Host } from '../../host/host.ts';
import { Installation, scenarioOf } from '../../installation.ts';
import type { Scenario } from '../../scenario.ts';
import { DISK } from '../../site.ts';

const COMMAND_MS = 60_000;
/** Two names with a dash, which the device mapper doubles. */
const GROUP = 'old-system';

/** As a system that was there before has left it. */
const commands = [
  ['systemctl', 'stop', 'install-to-disk.service', 'bootkube.service'],
  ['pvcreate', '--yes', DISK],
  ['vgcreate', GROUP, DISK],
  ['lvcreate', '--yes', '--size', '64M', '--name', 'root', GROUP],
];

async function makeVolumes(host: Host, signal: AbortSignal): Promise<void> {
  for (const argv of commands) {
    const { exitCode, stderr } = await host.exec(argv, { timeoutMs: COMMAND_MS }, signal);
    if (exitCode === 0) continue;
    throw new Failure('fatal', `${argv.join(' ')} failed`, { found: stderr.slice(-500) });
  }
}

/** A disk with volumes of LVM, which the live system's own udev activates when it boots: refused by name, not one byte written. */
export const refusedDisk: Scenario = (context) => {
  const run = new Installation(context);
  const { signal } = context;
  return scenarioOf(run, [
    { title: 'Create the installation', run: () => run.create() },
    {
      title: 'Make volumes of LVM on the disk',
      run: async () => {
        const host = await run.bootLive('live-before', (early) => makeVolumes(early, signal));
        await host.stop();
      },
    },
    { title: 'Boot the live host', run: async () => void (await run.bootLive()) },
    {
      title: 'Refused, with the name of the volume group',
      run: () =>
        expectRefusal(run, run.booted, {
          exitCode: EXIT.fatal,
          says: [/is in use/, /volume group old--?system/, /vgchange --activate n/],
        }),
    },
  ]);
};
