import { join } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import type { RecordedStep } from '../lib/cluster/installation/record.ts';
import { AGENTS } from '../lib/engine/agents/table.ts';
import { exists } from '../lib/host/files.ts';
import { readAgentSteps, saveAgentState } from './agent-records.ts';
import type { AgentSettings } from './agent-settings.ts';
import { type Carried, readCarried } from './checks/carried.ts';
import type { Check, ClusterCheck, DiskCheck, RunningCluster } from './checks/check.ts';
import { clusterChecksOf, diskChecks } from './checks/index.ts';
import { type LiveObjects, readLiveObjects } from './checks/live-objects.ts';
import { writeUserManifests } from './checks/user-manifests.ts';
import { type Component, ensureComponent } from './components/component.ts';
import { inspectDisk } from './host/disk.ts';
import type { Hardware, Host } from './host/host.ts';
import type { HostIdentity } from './host/network.ts';
import { waitForOwnExit, waitUntilInactive } from './host/unit-state.ts';
import { type CreatedInstallation, type HostInputs, writeInstallConfig } from './install-config.ts';
import { reportJournal } from './journal-progress.ts';
import { installerOf, type Medium, makeMedium } from './medium.ts';
import { ownArguments } from './own-inputs.ts';
import { patient, slowHostSettings } from './patience.ts';
import type { LabContext, ScenarioRun, ScenarioStep } from './scenario.ts';
import { serveInstallation } from './served.ts';
import { openSite, type Site, type SiteOptions } from './site.ts';

const BOOT_MS = 60_000;
const LIVE_MS = 10 * 60_000;
const POST_REBOOT_MS = 10 * 60_000;
const liveUnits = ['bootkube.service', 'install-to-disk.service'];
const earlierUnits = ['sno-restore.service', 'sno-payload.service'];
/** Their identifiers in the journal. */
const agentNames = AGENTS.map(({ name }) => name);

export type Report = (line: string) => void;
type Early = (host: Host) => Promise<void>;

export interface InstallationOptions {
  readonly site?: SiteOptions;
  readonly hostInputs?: HostInputs;
  /** Programs of the live host in addition to those of the image. */
  readonly programs?: readonly Component[];
  /** Additional manifests of the user, by path relative to install-config.yaml. */
  readonly manifests?: Readonly<Record<string, string>>;
  /** Settings of the agents on both hosts. */
  readonly settings?: AgentSettings;
  /** Another operating system: the live one, a component with a folder `tree`, and the ISO with the one to install. */
  readonly system?: { readonly root: Component; readonly iso: Component };
  /** Made by payloadWith, on the medium. Default: that of most scenarios. */
  readonly payload?: Component;
  /** The live host has no medium and downloads everything; `damaged`: a path served with one byte changed. */
  readonly served?: { readonly damaged?: string };
}

/** One installation in the lab, from install-config to the verified cluster, step by step. */
export class Installation {
  host: Host | undefined;
  /** What its machine has from its next boot on. */
  hardware: Hardware = {};
  readonly context: LabContext;
  readonly #options: InstallationOptions;
  #site: Site | undefined;
  #medium: Medium['medium'] | undefined;
  #created: CreatedInstallation | undefined;
  #carried: Carried | undefined;
  #liveObjects: LiveObjects = {};
  #elsewhere: HostIdentity | undefined;
  #boots: string[] = [];

  constructor(context: LabContext, options: InstallationOptions = {}) {
    this.context = context;
    this.#options = options;
  }

  get site(): Site {
    return needed(this.#site);
  }

  get created(): CreatedInstallation {
    return needed(this.#created);
  }

  /** The host that is running now. */
  get booted(): Host {
    return needed(this.host);
  }

  /** For installations that are created in another way. */
  protected prepared(site: Site, created: CreatedInstallation, medium?: Medium['medium']): void {
    this.#site = site;
    this.#created = created;
    this.#medium = medium;
  }

  /** What creates the installation and its disk. `early` is called as soon as a live host is running. */
  stepsToDisk(early?: Early): readonly ScenarioStep[] {
    return [
      { title: 'Create the installation', run: () => this.create() },
      { title: 'Boot the live host', run: async () => void (await this.bootLive('live', early)) },
      { title: 'Bootstrap and write the disk', run: (report) => this.bootstrap(report) },
      { title: 'Look at the disk before its first boot', run: (report) => this.checkDisk(report) },
    ];
  }

  /** Journals of every boot so far. */
  get journals(): string[] {
    return this.#boots.map((label) => this.journalOf(label));
  }

  journalOf(label: string): string {
    return join(this.context.out, `${label}-journal.log`);
  }

  async create(): Promise<void> {
    const { folder, teardown, signal } = this.context;
    const { site, hostInputs = {}, manifests, served, system, payload } = this.#options;
    this.#site = await openSite(folder, site ?? {}, teardown, signal);
    const target = join(folder, 'installation');
    await writeUserManifests(target, manifests);
    await writeInstallConfig(target, this.site.host, hostInputs);
    if (served !== undefined) {
      this.#created = await serveInstallation(this.context, target, this.settings, served.damaged);
      return;
    }
    const installer = await installerOf(this.context);
    const components = {
      ...this.context.components,
      ...(system && { liveIso: await this.#ensured(system.iso) }),
      ...(payload && { payload: await this.#ensured(payload) }),
    };
    const context = { ...this.context, components };
    const { medium, ...created } = await makeMedium(context, target, {
      installer,
      own: await ownArguments(folder, this.settings),
    });
    this.#medium = medium;
    this.#created = created;
  }

  /** Of the agents. */
  protected get settings(): AgentSettings {
    return { ...slowHostSettings(), ...this.#options.settings };
  }

  /** `early` is called as soon as the host's systemd is running. */
  async bootLive(label = 'live', early?: Early): Promise<Host> {
    const { hosts, signal } = this.context;
    const { ignition } = needed(this.#created);
    const { iso, folder: medium } = this.#medium ?? {};
    const image = join(await this.liveSystem(), 'tree');
    const programs = await this.#programs();
    const options = { ...this.hostOptions(label), image, ignition, programs, medium, iso };
    return this.started(label, await hosts.bootLive(options, signal), early);
  }

  /** Ends with the host's own reboot. */
  async bootstrap(report: Report, label = 'live'): Promise<void> {
    const host = needed(this.host);
    await this.following(label, report, async () => {
      const exit = await waitForOwnExit(host, liveUnits, patient(LIVE_MS), this.context.signal);
      if (exit !== 'reboot') {
        throw new Failure('fatal', 'the live host ended', { expected: 'a reboot', found: exit });
      }
    });
    await this.keepLive();
    await host.stop();
    this.host = undefined;
  }

  /** Saves the live host's data: its tree is deleted with it. */
  async keepLive(rootDir = needed(this.host).rootDir): Promise<void> {
    await saveAgentState(rootDir, this.#records('live'));
    this.#liveObjects = await readLiveObjects(rootDir);
  }

  async checkDisk(report: Report, checks: readonly DiskCheck[] = diskChecks): Promise<void> {
    const { signal } = this.context;
    await inspectDisk(this.site.disk, signal, async (mounted) => {
      for (const check of checks) {
        report(check.name);
        await check.run(mounted, signal);
      }
      this.carries(await readCarried(mounted.boot));
    });
  }

  /** What the installed host is given. */
  protected carries(carried: Carried): void {
    this.#carried = carried;
  }

  /** How long the start jobs of a boot may take. */
  protected get bootMs(): number {
    return BOOT_MS;
  }

  /** Folder of the component with the live host's root file system. */
  protected async liveSystem(): Promise<string> {
    const { system } = this.#options;
    if (system !== undefined) return this.#ensured(system.root);
    return this.context.components.rootFilesystem;
  }

  /** Built before the lab's namespaces, which cannot reach a registry. */
  #ensured(component: Component): Promise<string> {
    return ensureComponent(component, { signal: this.context.signal, report: () => undefined });
  }

  protected bootDisk(label: string): Promise<Host> {
    const { hosts, signal } = this.context;
    return hosts.bootDisk({ ...this.hostOptions(label), iso: this.#medium?.iso }, signal);
  }

  async bootInstalled(label = 'disk', early?: Early): Promise<Host> {
    return this.started(label, await this.bootDisk(label), early);
  }

  /** Boots the disk; the power fails as soon as `moment` resolves, even if the boot has not ended. */
  async bootUntilPowerCut(label: string, moment: Early): Promise<void> {
    const host = await this.bootDisk(label);
    this.#begun(label, host);
    await moment(host);
    await host.powerCut();
    this.host = undefined;
  }

  /** Until the post-reboot plan has finished, at most for so long. */
  async finish(report: Report, label = 'disk', withinMs = POST_REBOOT_MS): Promise<void> {
    const { signal } = this.context;
    const host = needed(this.host);
    await this.following(label, report, () =>
      waitUntilInactive(host, 'bootkube.service', earlierUnits, patient(withinMs), signal),
    );
    const record = join(host.rootDir, 'var/lib/sno-agents/record.json');
    if (!(await exists(record))) {
      throw new Failure('fatal', 'the installation left no record', { expected: record });
    }
  }

  /** `without`: names of checks that cannot pass after what was done to this host. */
  async checkCluster(report: Report, without: readonly string[] = []): Promise<void> {
    const checks = clusterChecksOf(this.context).filter(({ name }) => !without.includes(name));
    await this.runClusterChecks(checks, report);
  }

  async runClusterChecks(checks: readonly ClusterCheck[], report: Report): Promise<void> {
    const carried = needed(this.#carried);
    await this.runChecks(checks, report, { carried, liveObjects: this.#liveObjects });
  }

  async runChecks<T extends object>(
    checks: readonly Check<RunningCluster & T>[],
    report: Report,
    more: T,
  ): Promise<void> {
    const cluster = { ...this.cluster, ...more };
    for (const check of checks) {
      report(check.name);
      await check.run(cluster, this.context.signal);
    }
  }

  /** As it is reached from outside, on the host that is running now. */
  get cluster(): RunningCluster {
    const { components, folder } = this.context;
    return {
      host: this.booted,
      kubeconfig: this.created.kubeconfig,
      ignition: this.created.ignition,
      kubernetes: components.kubernetes,
      etcd: components.etcd,
      folder,
      journals: this.journals,
    };
  }

  async agentSteps(): Promise<readonly RecordedStep[]> {
    if (this.host !== undefined) await saveAgentState(this.host.rootDir, this.#records('last'));
    return readAgentSteps(this.#records('live'), this.#records('last'));
  }

  async #programs(): Promise<string[]> {
    const programs = this.#options.programs ?? [];
    return Promise.all(programs.map(async (each) => join(await this.#ensured(each), each.name)));
  }

  protected async started(label: string, host: Host, early?: Early): Promise<Host> {
    this.#begun(label, host);
    await early?.(host);
    // "degraded" is acceptable here: results of the units are checked later.
    await host.waitForBoot(this.bootMs, this.context.signal).catch(async (error: unknown) => {
      if (error instanceof Failure && error.kind === 'deadline') return;
      // A live host may restart before its last unit has started; whoever does not expect that misses the host.
      if (this.context.signal.aborted || !(await host.hasEnded())) throw error;
    });
    return host;
  }

  #begun(label: string, host: Host): void {
    this.host = host;
    this.#boots.push(label);
    this.context.teardown.add(`stop ${host.identity.name}`, () => host.stop());
  }

  protected async following(
    label: string,
    report: Report,
    wait: () => Promise<void>,
  ): Promise<void> {
    const end = reportJournal(this.journalOf(label), agentNames, report);
    try {
      await wait();
    } finally {
      end();
    }
  }

  /** Connects the host to another network, where it is known by other addresses, from its next boot on. */
  plugInto(identity: HostIdentity): void {
    this.#elsewhere = identity;
  }

  protected hostOptions(label: string) {
    const { folder, out } = this.context;
    const { host, disk } = this.site;
    const identity = this.#elsewhere ?? host;
    return { identity, folder, logs: out, label, disk, hardware: this.hardware };
  }

  #records(label: string): string {
    return join(this.context.out, 'agents', label);
  }
}

/** An installation as a scenario of these steps. */
export function scenarioOf(run: Installation, steps: readonly ScenarioStep[]): ScenarioRun {
  return {
    get host() {
      return run.host;
    },
    agentSteps: () => run.agentSteps(),
    steps,
  };
}

/** The result of an earlier step. Steps run in order, so it exists. */
export function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a step ran before one that it depends on');
  return value;
}
