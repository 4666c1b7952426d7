import { link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from '../../lib/base/errors/exit-codes.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { AllInOne } from '../all-in-one.ts';
import { expectBundleAfterFailure } from '../bundle/after-failure.ts';
import { diskNearlyFull } from '../bundle/states.ts';
import type { Host } from '../host/host.ts';
import { scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';
import { expectFailure } from './refusal.ts';

const START_MS = 60_000;

/** As an administrator does once the cause is fixed. */
async function startAgain(host: Host, signal: AbortSignal): Promise<void> {
  for (const command of [['reset-failed'], ['start', '--no-block']]) {
    const argv = ['systemctl', ...command, 'aiokube.service'];
    await host.exec(argv, { timeoutMs: START_MS }, signal);
  }
}

/**
 * One all-in-one host meets one cause of failure after another: an image that its server does not
 * have, a file with another digest, a disk without space, and the disk in another machine. Each is
 * named; once all are removed, the same installation completes.
 */
export const aioResumed: Scenario = (context) => {
  const run = new AllInOne(context);
  const { signal } = context;
  const archive = () => join(run.served.folder, 'payload/images/etcd.tar');
  const away = () => join(run.served.folder, 'etcd.tar.away');
  const machineId = ({ rootDir }: Host) => join(rootDir, 'etc/machine-id');
  let ownId = '';
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    {
      title: 'An image is missing on the server',
      run: async () => {
        await rename(archive(), away());
        await expectFailure(
          await run.bootInstalled('disk-1'),
          {
            unit: 'aiokube',
            exitCode: EXIT.fatal,
            says: [/images\/etcd\.tar cannot be downloaded; expected status 200; found .*404/],
          },
          signal,
        );
      },
    },
    {
      title: 'A file has another digest',
      run: async () => {
        await link(join(run.served.folder, 'payload/images/pause.tar'), archive());
        await startAgain(run.booted, signal);
        await expectFailure(
          run.booted,
          {
            unit: 'aiokube',
            exitCode: EXIT.fatal,
            says: [
              /images\/etcd\.tar is not the file that this installation was created for; expected SHA-256 [0-9a-f]{64}; found [0-9a-f]{64}/,
            ],
          },
          signal,
        );
        await rm(archive());
        await rename(away(), archive());
      },
    },
    {
      title: 'The disk is nearly full',
      run: () =>
        diskNearlyFull(run, signal, async () => {
          await startAgain(run.booted, signal);
          await expectFailure(
            run.booted,
            {
              unit: 'aiokube',
              exitCode: EXIT.fatal,
              says: [/Not enough space for the payload in \S+; expected \d+ bytes; found \d+\. /],
            },
            signal,
          );
        }),
    },
    {
      title: 'The disk is in another machine',
      run: async () => {
        const before = run.booted;
        // Stopped first: it would leave what it has when the host stops.
        const stop = ['systemctl', 'stop', 'sno-gather.service'];
        await before.exec(stop, { timeoutMs: START_MS }, signal);
        await rm(join(before.rootDir, 'var/log/log-bundle-failure.tar.gz'), { force: true });
        ownId = await readFile(machineId(before), 'utf8');
        // Hosts of the lab have no firmware: their machine is known by this.
        await writeFileAtomic(machineId(before), `${'5e0'.padEnd(32, '0')}\n`, 0o444);
        await before.stop();
        const host = await run.bootInstalled('disk-2');
        await expectFailure(
          host,
          {
            unit: 'aiokube',
            exitCode: EXIT.fatal,
            says: [
              /the disk holds the installation of another machine; expected the machine machine-id:[0-9a-f]{32}; found machine-id:5e0/,
            ],
          },
          signal,
        );
        await expectBundleAfterFailure(host, 'installed', ['disk-refused'], context);
      },
    },
    {
      title: 'Back in its own machine, it finishes',
      run: async (report) => {
        await writeFileAtomic(machineId(run.booted), ownId, 0o444);
        await run.booted.stop();
        await run.bootInstalled('disk-3');
        await run.finish(report, 'disk-3');
      },
    },
    { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
  ]);
};
