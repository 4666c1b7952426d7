import { join } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { run } from '../lib/host/command.ts';
import { exists } from '../lib/host/files.ts';
import type { AgentSettings } from './agent-settings.ts';
import { backup } from './checks/backup.ts';
import { allInOneChecksOf } from './checks/index.ts';
import { reservedCpus } from './checks/reserved-cpus.ts';
import { type Component, ensureComponent } from './components/component.ts';
import { OS_IMAGE } from './components/os-image.ts';
import { createDataDisk, type DataDisk } from './host/data-disk.ts';
import type { Host } from './host/host.ts';
import type { HostIdentity } from './host/network.ts';
import { waitUntilInactive } from './host/unit-state.ts';
import { type HostInputs, writeInstallConfig } from './install-config.ts';
import { Installation, type Report } from './installation.ts';
import { mountIso } from './medium.ts';
import { ownArguments } from './own-inputs.ts';
import { cli } from './paths.ts';
import { patient } from './patience.ts';
import { payload } from './payload.ts';
import { checkLedger, restartByHand } from './restart.ts';
import type { LabContext, ScenarioStep } from './scenario.ts';
import { type Served, serveProduct } from './served.ts';
import { type Families, openSite, type SiteOptions } from './site.ts';
import { writeImage } from './write-image.ts';

const CREATE_MS = 60_000;
const AIOKUBE_MS = 10 * 60_000;
/** Before it. */
const EARLIER_UNITS = ['sno-executable.service', 'sno-payload.service'];

export interface AllInOneOptions {
  /** Where executable and payload come from. Default: `url`. */
  readonly source?: 'url' | 'medium';
  readonly hostInputs?: HostInputs;
  /** Default: IPv4 alone. Without it, the executable comes from a medium. */
  readonly families?: Families;
  /** Default: false. */
  readonly dns?: SiteOptions['dns'];
  /** Default: infinite. */
  readonly leaseTime?: SiteOptions['leaseTime'];
  /** The image on its disk, made by imageOf. Default: that of the run's hosts. */
  readonly operatingSystem?: Component;
  /** Of the agents. */
  readonly settings?: AgentSettings;
  readonly otherHosts?: readonly HostIdentity[];
  /** Created with the site, and connected at every boot. Default: none. */
  readonly dataDisk?: Pick<DataDisk, 'mountPoint'>;
  /** Of the installation. Default: none. */
  readonly workers?: number;
  /** Made by payloadWith. Default: that of most scenarios. */
  readonly payload?: Component;
}

/**
 * An all-in-one host: an image is written to its disk with `aio.ign`, and everything else happens at
 * the first boot of that disk. Executable and payload come from a web server at the site, whose DNS
 * answers nothing by default, or from a second medium.
 */
export class AllInOne extends Installation {
  readonly #source: 'url' | 'medium';
  readonly #hostInputs: HostInputs;
  readonly #network: Pick<SiteOptions, 'dns' | 'leaseTime'> & { readonly families: Families };
  readonly #operatingSystem: Component | undefined;
  readonly #otherHosts: readonly HostIdentity[];
  readonly #workers: number;
  readonly #payload: Component;
  readonly #dataDisk: DataDisk | undefined;
  #served: Served | undefined;

  constructor(
    context: LabContext,
    {
      source = 'url',
      hostInputs = {},
      families = ['IPv4'],
      dns = false,
      leaseTime,
      operatingSystem,
      settings,
      otherHosts = [],
      dataDisk,
      workers = 0,
      payload: ownPayload = payload,
    }: AllInOneOptions = {},
  ) {
    super(context, settings === undefined ? {} : { settings });
    this.#source = source;
    this.#hostInputs = hostInputs;
    this.#network = { dns, families, ...(leaseTime && { leaseTime }) };
    this.#operatingSystem = operatingSystem;
    this.#otherHosts = otherHosts;
    this.#dataDisk = dataDisk && { ...dataDisk, file: join(context.folder, 'data.raw') };
    this.#workers = workers;
    this.#payload = ownPayload;
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
    const { folder, teardown, signal } = this.context;
    const payload = await ensureComponent(this.#payload, { signal, report: () => undefined });
    const context = { ...this.context, components: { ...this.context.components, payload } };
    const target = join(folder, 'installation');
    const network = { ...this.#network, otherHosts: this.#otherHosts };
    const site = await openSite(folder, network, teardown, signal);
    if (this.#dataDisk !== undefined) await createDataDisk(this.#dataDisk, signal);
    await writeInstallConfig(target, site.host, this.#hostInputs, this.#workers);
    const iso = join(folder, 'medium.iso');
    if (this.#source === 'url') this.#served = await serveProduct(context);
    const options = this.#served?.options ?? [...['--medium-iso', iso], ...['--payload', payload]];
    // The lab does not use the site's DNS.
    const api = this.#workers === 0 ? [] : ['--api-server', site.host.addresses[0]];
    const own = await ownArguments(folder, this.settings);
    const create = ['create', 'aio-ignition', '--dir', target, ...api, ...options, ...own];
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
    const options = { ...this.hostOptions(label), dataDisk: this.#dataDisk };
    return this.context.hosts.bootDisk(
      this.#source === 'medium' ? { ...options, medium: this.#medium } : options,
      this.context.signal,
    );
  }

  /** As a person does from a live image, with coreos-installer. */
  async writeDisk(label = 'live'): Promise<void> {
    const within = { signal: this.context.signal, report: () => undefined };
    const system =
      this.#operatingSystem === undefined
        ? this.context.components.osImage
        : await ensureComponent(this.#operatingSystem, within);
    const options = this.hostOptions(label);
    const image = { osImage: join(system, OS_IMAGE), ignition: this.created.ignition };
    await writeImage(options, image, this.context, (host) => this.started(label, host));
    if (this.#network.families.includes('IPv6')) await this.site.network.forgetLeases();
    this.host = undefined;
  }

  /** Until aiokube has removed itself. */
  override async finish(report: Report, label = 'disk'): Promise<void> {
    const host = this.booted;
    await this.following(label, report, () =>
      waitUntilInactive(
        host,
        'aiokube.service',
        EARLIER_UNITS,
        patient(AIOKUBE_MS),
        this.context.signal,
      ),
    );
    const done = join(host.rootDir, 'opt/openshift/.aiokube.done');
    if (!(await exists(done))) {
      throw new Failure('fatal', 'aiokube did not finish', { expected: done });
    }
  }

  override async checkCluster(report: Report, without: readonly string[] = []): Promise<void> {
    const checks = allInOneChecksOf(this.context).filter(({ name }) => !without.includes(name));
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
