import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { failureSentence } from '../../../lib/base/errors/failure-data.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { nodeReady } from '../../checks/node-ready.ts';
import { demandedOf, meetAll, type TroublesOf } from '../../faults/troubles.ts';
import { quickly } from '../../host/command.ts';
import { type Disk, readPartitions } from '../../host/disk.ts';
import { onHost } from '../../host/on-host.ts';
import { waitForStep } from '../../host/wait-for-step.ts';
import { Installation, type Report, scenarioOf } from '../../installation.ts';
import type { Scenario } from '../../scenario.ts';
import { asMachine } from '../machine-host.ts';
import { needed, shown } from './row.ts';

const LABEL = 'edge-data';
/** The image has the numbers 1 to 4. */
const NUMBER = 10;
const MIB = 1024 * 1024;
const PARTITION_MIB = 64;
const SLOW_BYTES_PER_SECOND = 20 * MIB;

/** One installation whose disk has a partition to keep, reports errors for a while, and then is slow. */
class WrittenDisk extends Installation {
  readonly #data = randomBytes(MIB);

  /** At the end of the disk, where the image and the root do not reach. */
  async makePartition(): Promise<void> {
    const { disk } = this.site;
    const make = [`--new=${NUMBER}:-${PARTITION_MIB}M:0`, `--change-name=${NUMBER}:${LABEL}`];
    await quickly('sgdisk', [...make, disk.file], this.context.signal);
    const file = await open(disk.file, 'r+');
    try {
      await file.write(this.#data, 0, MIB, await partitionStart(disk, this.context.signal));
    } finally {
      await file.close();
    }
  }

  /** The agent says what failed, and does it again by itself. */
  async writeErrors(): Promise<void> {
    const { signal } = this.context;
    const machine = asMachine(this.booted);
    await waitForStep(machine, 'install-to-disk', ['write-disk', 'started'], signal);
    await machine.failWrites(true);
    const event = ['write-disk', 'attempt-failed'] as const;
    const { failure } = await waitForStep(machine, 'install-to-disk', event, signal).finally(() =>
      machine.failWrites(false),
    );
    const found = failure === undefined ? 'nothing' : failureSentence(failure);
    if (/coreos-installer/.test(found) && /input\/output error/i.test(found)) return;
    throw new Failure('fatal', 'the failed attempt does not say that the disk has errors', {
      expected: 'coreos-installer, Input/output error',
      found,
    });
  }

  async installSlowly(report: Report): Promise<void> {
    await asMachine(this.booted).devices.slowDisk('sno-disk', SLOW_BYTES_PER_SECOND);
    await this.bootstrap(report);
    await this.checkDisk(report);
  }

  async keptInFile(): Promise<void> {
    const { disk } = this.site;
    const start = await partitionStart(disk, this.context.signal);
    const file = await open(disk.file, 'r');
    try {
      const { buffer } = await file.read(Buffer.alloc(MIB), 0, MIB, start);
      this.#requireKept(buffer);
    } finally {
      await file.close();
    }
  }

  /** The root has grown, up to this partition. */
  async keptOnHost(): Promise<void> {
    const device = `/dev/disk/by-partlabel/${LABEL}`;
    const read = ['dd', `if=${device}`, 'bs=1M', 'count=1', 'status=none', 'of=/run/edge-data'];
    const { signal } = this.context;
    await onHost(this.booted, read, signal);
    const sum = await onHost(this.booted, ['sha256sum', '/run/edge-data'], signal);
    if (!sum.startsWith(sha256(this.#data))) throw changed();
  }

  #requireKept(found: Buffer): void {
    if (!found.equals(this.#data)) throw changed();
  }
}

async function partitionStart(disk: Disk, signal: AbortSignal): Promise<number> {
  const found = (await readPartitions(disk, signal)).find(({ label }) => label === LABEL);
  if (found?.number === NUMBER) return found.offset;
  throw new Failure('fatal', `the disk has no partition ${NUMBER} with the name ${LABEL}`);
}

const changed = () => new Failure('fatal', `the partition ${LABEL} has other contents`);

const PLAN = 'install-to-disk';

const troubles: TroublesOf<WrittenDisk> = (run) => [
  shown('errors of the disk', () => run().writeErrors(), PLAN),
  needed(shown('slow disk', () => run().installSlowly(() => undefined), PLAN)),
  shown('partition kept', () => run().keptInFile(), PLAN),
];

export const writtenDiskRows = demandedOf(troubles);

export const writtenDisk: Scenario = (context) => {
  const run = new WrittenDisk(context, { hostInputs: { savePartitions: { labels: [LABEL] } } });
  return scenarioOf(run, [
    { title: 'Create the installation', run: () => run.create() },
    { title: 'Make a partition to keep', run: () => run.makePartition() },
    { title: 'Boot the live host', run: async () => void (await run.bootLive()) },
    ...meetAll(
      troubles(() => run),
      context,
    ),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    { title: 'The partition is there', run: () => run.keptOnHost() },
    { title: 'Check the node', run: (report) => run.runChecks([nodeReady], report, {}) },
  ]);
};
