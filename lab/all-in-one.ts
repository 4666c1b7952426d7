import { link, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/errors/failure.ts';
import { run } from '../lib/host/command.ts';
import { exists } from '../lib/host/files.ts';
import { backup } from './checks/backup.ts';
import { allInOneChecks } from './checks/index.ts';
import { reservedCpus } from './checks/reserved-cpus.ts';
import { type Component, ensureComponent } from './components/component.ts';
import { OS_IMAGE, osImage } from './components/os-image.ts';
import { bootDiskHost } from './host/disk-host.ts';
import type { Host } from './host/host.ts';
import { bootLiveHost } from './host/live-host.ts';
import { waitUntilInactive } from './host/unit-state.ts';
import { type HostInputs, writeInstallConfig } from './install-config.ts';
import { Installation, type Report } from './installation.ts';
import { mountIso } from './medium.ts';
import { cli } from './paths.ts';
import { checkLedger, restartByHand } from './restart.ts';
import type { LabContext, ScenarioStep } from './scenario.ts';
import { type Served, serveProduct } from './served.ts';
import { DISK, openSite, type SiteOptions } from './site.ts';

const CREATE_MS = 60_000;
const WRITE_MS = 5 * 60_000;
const AIOKUBE_MS = 10 * 60_000;
/** Before it. */
const EARLIER_UNITS = ['sno-executable.service', 'sno-payload.service'];

export interface AllInOneOptions {
  /** Where executable and payload come from. Default: `url`. */
  readonly source?: 'url' | 'medium';
  readonly hostInputs?: HostInputs;
  /** Default: false. */
  readonly dns?: SiteOptions['dns'];
  /** The image on its disk, made by imageOf. Default: the lab's. */
  readonly operatingSystem?: Component;
}

/**
 * An all-in-one host: an image is written to its disk with `aio.ign`, and everything else happens at
 * the first boot of that disk. Executable and payload come from a web server at the site, whose DNS
 * answers nothing by default, or from a second medium.
 */
export class AllInOne extends Installation {
  readonly #source: 'url' | 'medium';
  readonly #hostInputs: HostInputs;
  readonly #dns: SiteOptions['dns'];
  readonly #operatingSystem: Component;
  #served: Served | undefined;

  constructor(
    context: LabContext,
    {
      source = 'url',
      hostInputs = {},
      dns = false,
      operatingSystem = osImage,
    }: AllInOneOptions = {},
  ) {
    super(context);
    this.#source = source;
    this.#hostInputs = hostInputs;
    this.#dns = dns;
    this.#operatingSystem = operatingSystem;
  }

  /** The web server of the executable and the payload. */
  get served(): Served {
    if (this.#served === undefined) throw new Error('nothing is served');
    return this.#served;
  }

  override stepsToDisk(): readonly ScenarioStep[] {
    return [
      { title: 'Create the installation', run: () => this.create() },
      { title: 'Write the image to the disk', run: () => this.writeDisk() },
    ];
  }

  override async create(): Promise<void> {
    const { components, folder, teardown, signal } = this.context;
    const target = join(folder, 'installation');
    const site = await openSite(folder, { dns: this.#dns }, teardown, signal);
    await writeInstallConfig(target, site.host, this.#hostInputs);
    const iso = join(folder, 'medium.iso');
    if (this.#source === 'url') this.#served = await serveProduct(this.context);
    const options = this.#served?.options ?? [
      ...['--medium-iso', iso],
      ...['--payload', components.payload],
    ];
    const create = ['create', 'aio-ignition', '--dir', target, ...options];
    await run(cli, create, { signal, deadlineMs: CREATE_MS });
    if (this.#source === 'medium') await mountIso(iso, this.#medium, this.context);
    this.prepared(site, {
      ignition: join(target, 'aio.ign'),
      kubeconfig: join(target, 'auth/kubeconfig'),
    });
  }

  get #medium(): string {
    return join(this.context.folder, 'second-medium');
  }

  /** Its second medium is in the drive. */
  protected override bootDisk(label: string): Promise<Host> {
    const options = this.hostOptions(label);
    return bootDiskHost(
      this.#source === 'medium' ? { ...options, medium: this.#medium } : options,
      this.context.signal,
    );
  }

  /** As a person does from a live image, with coreos-installer. */
  async writeDisk(): Promise<void> {
    const { components, folder, signal } = this.context;
    const medium = join(folder, 'medium');
    await mkdir(join(medium, 'images'), { recursive: true });
    const within = { signal, report: () => undefined };
    const system = await ensureComponent(this.#operatingSystem, within);
    await link(join(system, OS_IMAGE), join(medium, 'images', OS_IMAGE));
    await link(this.created.ignition, join(medium, 'aio.ign'));
    const image = join(components.rootFilesystem, 'tree');
    const options = { ...this.hostOptions('live'), image, medium };
    const host = await this.started('live', await bootLiveHost(options, signal));
    const command = [
      ...['coreos-installer', 'install', '--offline', '--insecure'],
      ...['--image-file', `/run/media/iso/images/${OS_IMAGE}`],
      ...['--ignition-file', '/run/media/iso/aio.ign', DISK],
    ];
    const { exitCode, stderr } = await host.exec(command, { timeoutMs: WRITE_MS }, signal);
    await host.stop();
    this.host = undefined;
    if (exitCode !== 0) {
      throw new Failure('fatal', 'coreos-installer failed', { found: stderr.slice(-2000) });
    }
  }

  /** Until aiokube has removed itself. */
  override async finish(report: Report, label = 'disk'): Promise<void> {
    const host = this.booted;
    await this.following(label, report, () =>
      waitUntilInactive(host, 'aiokube.service', EARLIER_UNITS, AIOKUBE_MS, this.context.signal),
    );
    const done = join(host.rootDir, 'opt/openshift/.aiokube.done');
    if (!(await exists(done))) {
      throw new Failure('fatal', 'aiokube did not finish', { expected: done });
    }
  }

  override async checkCluster(report: Report, without: readonly string[] = []): Promise<void> {
    const checks = allInOneChecks.filter(({ name }) => !without.includes(name));
    await this.runChecks(checks, report, {});
  }

  /** Beside the checks of every all-in-one host, which an e2e runs in four minutes. */
  async checkFurther(report: Report): Promise<void> {
    await this.runChecks([reservedCpus, backup], report, {});
  }

  /** As an administrator does, while a workload is at work. */
  async restart(): Promise<void> {
    const { signal } = this.context;
    await restartByHand(this.cluster, signal);
    await this.booted.stop();
    await this.bootInstalled('restarted');
    await checkLedger(this.cluster, signal);
  }
}
