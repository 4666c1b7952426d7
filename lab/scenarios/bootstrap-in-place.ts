import { join } from 'node:path';
import { exists } from '../../lib/host/files.ts';
import { Failure } from '../../lib/steps/failure.ts';
import { readAgentSteps, saveAgentState } from '../agent-records.ts';
import { clusterChecks, diskChecks } from '../checks/index.ts';
import { inspectDisk } from '../host/disk.ts';
import { bootDiskHost } from '../host/disk-host.ts';
import type { Host } from '../host/host.ts';
import { bootLiveHost } from '../host/live-host.ts';
import { waitForOwnExit, waitUntilInactive } from '../host/unit-state.ts';
import { type CreatedInstallation, createInstallation } from '../install-config.ts';
import { reportJournal } from '../journal-progress.ts';
import { makeMedium } from '../medium.ts';
import { executable } from '../paths.ts';
import type { LabContext, Scenario } from '../scenario.ts';
import { host as identity, openSite, type Site } from '../site.ts';

const BOOT_MS = 60_000;
const LIVE_MS = 10 * 60_000;
const POST_REBOOT_MS = 10 * 60_000;
const liveUnits = ['bootkube.service', 'install-to-disk.service'];
const installedUnits = ['bootkube.service', 'sno-restore.service', 'sno-payload.service'];

/**
 * From a live image to a finished cluster: bootstrap on the live host, its disk
 * written, the reboot into it, etcd restored, the node joined, all leftovers removed.
 */
export const bootstrapInPlace: Scenario = (context) => {
  const run = new BootstrapInPlace(context);
  return {
    get host() {
      return run.host;
    },
    agentSteps: () => run.agentSteps(),
    steps: [
      { title: 'Create the installation', run: () => run.create() },
      { title: 'Boot the live host', run: () => run.bootLive() },
      { title: 'Bootstrap and write the disk', run: (report) => run.bootstrap(report) },
      { title: 'Look at the disk before its first boot', run: (report) => run.checkDisk(report) },
      { title: 'Boot from the disk', run: () => run.bootInstalled() },
      { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
      { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
    ],
  };
};

class BootstrapInPlace {
  host: Host | undefined;
  readonly #context: LabContext;
  #site: Site | undefined;
  #medium = '';
  #installation: CreatedInstallation | undefined;

  constructor(context: LabContext) {
    this.#context = context;
  }

  async create(): Promise<void> {
    const { folder, components, teardown, signal } = this.#context;
    const { payload, osImage } = components;
    this.#site = await openSite(folder, {}, teardown, signal);
    this.#medium = await makeMedium(
      join(folder, 'medium'),
      { executable, payload, osImage },
      signal,
    );
    this.#installation = await createInstallation(join(folder, 'installation'), signal);
  }

  async bootLive(): Promise<void> {
    const { components, signal } = this.#context;
    const { ignition } = needed(this.#installation);
    const image = join(components.rootFilesystem, 'tree');
    const options = { ...this.#hostOptions('live'), image, ignition, medium: this.#medium };
    await this.#started(await bootLiveHost(options, signal));
  }

  /** Ends with the host's own reboot. */
  async bootstrap(report: (line: string) => void): Promise<void> {
    const host = needed(this.host);
    await this.#following('live', ['bootkube', 'install-to-disk'], report, async () => {
      const exit = await waitForOwnExit(host, liveUnits, LIVE_MS, this.#context.signal);
      if (exit !== 'reboot') {
        throw new Failure('fatal', 'the live host ended', { expected: 'a reboot', found: exit });
      }
    });
    await saveAgentState(host.rootDir, this.#records('live'));
    await host.stop();
    this.host = undefined;
  }

  async checkDisk(report: (line: string) => void): Promise<void> {
    const { signal } = this.#context;
    await inspectDisk(needed(this.#site).disk, signal, async (mounted) => {
      for (const check of diskChecks) {
        report(check.name);
        await check.run(mounted, signal);
      }
    });
  }

  async bootInstalled(): Promise<void> {
    await this.#started(await bootDiskHost(this.#hostOptions('disk'), this.#context.signal));
  }

  async finish(report: (line: string) => void): Promise<void> {
    const { signal } = this.#context;
    const host = needed(this.host);
    await this.#following('disk', ['bootkube', 'sno-restore', 'sno-payload'], report, () =>
      waitUntilInactive(host, 'bootkube.service', installedUnits, POST_REBOOT_MS, signal),
    );
    const record = join(host.rootDir, 'var/lib/sno-agents/record.json');
    if (!(await exists(record))) {
      throw new Failure('fatal', 'the installation left no record', { expected: record });
    }
  }

  async checkCluster(report: (line: string) => void): Promise<void> {
    const { components, signal } = this.#context;
    const { kubeconfig } = needed(this.#installation);
    const { kubernetes } = components;
    const cluster = { host: needed(this.host), kubeconfig, kubernetes };
    for (const check of clusterChecks) {
      report(check.name);
      await check.run(cluster, signal);
    }
  }

  async agentSteps() {
    if (this.host !== undefined) await saveAgentState(this.host.rootDir, this.#records('last'));
    return readAgentSteps([this.#records('last'), this.#records('live')]);
  }

  async #started(host: Host): Promise<void> {
    const { teardown, signal } = this.#context;
    this.host = host;
    teardown.add(`stop ${host.identity.name}`, () => host.stop());
    // "degraded" is judged by what the units were for, later.
    await host.waitForBoot(BOOT_MS, signal).catch((error: unknown) => {
      if (!(error instanceof Failure) || error.kind !== 'deadline') throw error;
    });
  }

  async #following(
    label: string,
    identifiers: readonly string[],
    report: (line: string) => void,
    wait: () => Promise<void>,
  ): Promise<void> {
    const log = join(this.#context.out, `${label}-journal.log`);
    const end = reportJournal(log, identifiers, report);
    try {
      await wait();
    } finally {
      end();
    }
  }

  #hostOptions(label: string) {
    const { folder, out } = this.#context;
    return { identity, folder, logs: out, label, disk: needed(this.#site).disk };
  }

  #records(label: string): string {
    return join(this.#context.out, 'agents', label);
  }
}

/** What an earlier step made. Steps run in order, so that it is there. */
function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a step ran before the one that it needs');
  return value;
}
