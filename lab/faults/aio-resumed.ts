import { link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { EXIT } from '../../lib/errors/exit-codes.ts';
import { Failure } from '../../lib/errors/failure.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { parseJson } from '../../lib/json.ts';
import { AllInOne } from '../all-in-one.ts';
import { expectBundleAfterFailure } from '../bundle/after-failure.ts';
import { diskFull } from '../bundle/states.ts';
import type { Host } from '../host/host.ts';
import { scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';
import { expectFailure } from './refusal.ts';

const START_MS = 60_000;
const STATUS_MS = 120_000;
const LOOK_EVERY_MS = 500;

/** As an administrator does once the cause is fixed. */
async function startAgain(host: Host, signal: AbortSignal): Promise<void> {
  for (const command of [['reset-failed'], ['start', '--no-block']]) {
    const argv = ['systemctl', ...command, 'aiokube.service'];
    await host.exec(argv, { timeoutMs: START_MS }, signal);
  }
}

const statusSchema = z.object({
  status: z.object({ state: z.string(), failure: z.object({ code: z.string() }).optional() }),
  journal: z.array(z.object({ step: z.string(), event: z.string() })),
});
type Status = z.infer<typeof statusSchema>;

/** Not from the journal: with a full disk, journald loses lines. */
async function untilStatus(
  host: Host,
  [what, holds]: readonly [what: string, holds: (status: Status) => boolean],
  signal: AbortSignal,
): Promise<void> {
  const until = Date.now() + STATUS_MS;
  for (;;) {
    const command = ['/usr/local/bin/aiokube', 'status', '--json'];
    const { stdout } = await host.exec(command, { timeoutMs: 20_000 }, signal);
    const status = statusSchema.safeParse(parseJson(stdout)).data;
    if (status !== undefined && holds(status)) return;
    if (Date.now() > until) {
      throw new Failure('deadline', 'aiokube has not reached the expected status', {
        expected: what,
        found: JSON.stringify(status?.status),
      });
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}

/**
 * One all-in-one host meets one cause of failure after another: an image that its server does not
 * have, a file with another digest, a full disk, and the disk in another machine. Each is named;
 * once all are removed, the same installation completes.
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
      title: 'The disk is full',
      run: () =>
        diskFull(run, signal, async () => {
          await startAgain(run.booted, signal);
          await untilStatus(
            run.booted,
            [
              'the failure journal-unwritable',
              ({ status }) => status.failure?.code === 'journal-unwritable',
            ],
            signal,
          );
        }),
    },
    {
      title: 'Goes on by itself when there is space again',
      run: () =>
        untilStatus(
          run.booted,
          ['a step that goes on', ({ journal }) => journal.at(-1)?.event !== 'failed'],
          signal,
        ),
    },
    {
      title: 'The disk is in another machine',
      run: async () => {
        const before = run.booted;
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
