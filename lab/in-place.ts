import { copyFile, link, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeDataUrl } from '../lib/base/data-url.ts';
import { Failure } from '../lib/base/errors/failure.ts';
import { succeeds, waitUntil } from '../lib/base/wait/wait-until.ts';
import { inPlacePlaces } from '../lib/cluster/installation/in-place/places.ts';
import { SNAPSHOT_FILE } from '../lib/cluster/installation/snapshot-record.ts';
import { run } from '../lib/host/command.ts';
import { exists } from '../lib/host/files.ts';
import { hostPaths } from '../lib/host/paths.ts';
import { parseConfig } from '../lib/render/ignition/config.ts';
import { effectiveConfig } from '../lib/render/ignition/validate.ts';
import { keyFingerprintsIn } from '../lib/render/private-keys.ts';
import { mediumWithoutAdministrator } from './checks/administrator.ts';
import { readCarriedIn } from './checks/carried.ts';
import { journalStory } from './checks/journal-story.ts';
import { writeUserManifests } from './checks/user-manifests.ts';
import { OS_IMAGE } from './components/os-image.ts';
import { eventually } from './eventually.ts';
import type { Host } from './host/host.ts';
import { waitForOwnExit } from './host/unit-state.ts';
import { waitForStep } from './host/wait-for-step.ts';
import { writeInstallConfig } from './install-config.ts';
import { Installation, type Report } from './installation.ts';
import { mountIso } from './medium.ts';
import { ownArguments } from './own-inputs.ts';
import { cli, executable } from './paths.ts';
import { patient } from './patience.ts';
import type { Trace } from './raw-disk.ts';
import type { LabContext, ScenarioStep } from './scenario.ts';
import { serveProduct } from './served.ts';
import { openSite } from './site.ts';
import { expectNone, expectPlanted, filesBelow, tracesOf } from './traces.ts';
import { writeImage } from './write-image.ts';

const CREATE_MS = 60_000;
/** A file takes a few. */
const LOOK_EVERY_MS = 20;
const STAGE_MS = 60_000;
const BOOTSTRAP_MS = 10 * 60_000;
const UNITS = ['sno-in-place.service', 'bootkube.service', 'install-to-disk.service'];
const BUNDLE = 'in-place.bundle';
/** Manifests, keys, rendered files. */
const LEAST_TRACES = 20;

/**
 * A host without a live image: its disk boots with `in-place.ign`, the bootstrap is in memory, and the disk becomes that
 * of the installed host. Executable, payload and bundle come from a web server at the site, the bundle only once, or
 * from a medium.
 */
export class InPlace extends Installation {
  readonly #source: 'url' | 'medium';
  #bundle: Buffer = Buffer.alloc(0);
  #traces: readonly Trace[] = [];

  constructor(context: LabContext, source: 'url' | 'medium') {
    super(context);
    this.#source = source;
  }

  override stepsToDisk(): readonly ScenarioStep[] {
    return [
      { title: 'Create the installation', run: () => this.create() },
      { title: 'Write the image to the disk', run: () => this.writeDisk() },
      ...this.#powerCut(),
      { title: 'Boot the disk', run: async () => void (await this.bootInstalled('memory')) },
      {
        title: 'Bootstrap in memory, and become the installed host',
        run: (report) => this.bootstrap(report, 'memory'),
      },
    ];
  }

  /** On a machine without KVM, a second bootstrap takes a quarter of an hour. */
  #powerCut(): readonly ScenarioStep[] {
    if (this.context.hosts.are === 'machines') return [];
    return [
      {
        title: 'Bootstrap until the power fails while the disk is written',
        run: () => this.bootUntilPowerCut('interrupted', (host) => this.#staging(host)),
      },
    ];
  }

  override async create(): Promise<void> {
    const { folder, teardown, signal } = this.context;
    const site = await openSite(folder, {}, teardown, signal);
    const target = join(folder, 'installation');
    await writeUserManifests(target, undefined);
    // Whoever writes the image to the disk gives arguments to its kernel.
    await writeInstallConfig(target, site.host, { target: 'self', kernelArguments: [] });
    const create = [
      ...['create', 'in-place-ignition', '--dir', target],
      ...(await ownArguments(folder, this.settings)),
    ];
    if (this.#source === 'url') {
      const served = await serveProduct(this.context, { once: `/${BUNDLE}` });
      const urls = [...served.options, '--bundle-url', `${served.url}/${BUNDLE}`];
      await run(cli, [...create, ...urls], { signal, deadlineMs: CREATE_MS });
      await link(join(target, BUNDLE), join(served.folder, BUNDLE));
      this.#bundle = await readFile(join(target, BUNDLE));
    } else {
      const iso = join(folder, 'medium.iso');
      const medium = ['--medium-iso', iso, '--payload', this.context.components.payload];
      await run(cli, [...create, ...medium], { signal, deadlineMs: CREATE_MS });
      await mountIso(iso, this.#medium, this.context);
      this.#bundle = await readFile(join(this.#medium, 'sno-agents', BUNDLE));
    }
    this.prepared(site, {
      ignition: join(target, 'in-place.ign'),
      kubeconfig: join(target, 'auth/kubeconfig'),
    });
  }

  get #medium(): string {
    return join(this.context.folder, 'second-medium');
  }

  /** The medium is in the drive until the host is installed. */
  protected override bootDisk(label: string): Promise<Host> {
    const options = this.hostOptions(label);
    const isNeeded = this.#source === 'medium' && this.#traces.length === 0;
    return this.context.hosts.bootDisk(
      isNeeded ? { ...options, medium: this.#medium } : options,
      this.context.signal,
    );
  }

  /** As a person does from a live image; a cloud has done it. */
  async writeDisk(): Promise<void> {
    const osImage = join(this.context.components.osImage, OS_IMAGE);
    const image = { osImage, ignition: this.created.ignition };
    await writeImage(this.hostOptions('live'), image, this.context, (host) =>
      this.started('live', host),
    );
    this.host = undefined;
  }

  /** Some files are beside their places, and others are not yet there. */
  async #staging(host: { readonly ownView: string }): Promise<void> {
    const { signal } = this.context;
    const view = { rootDir: host.ownView };
    await waitForStep(view, 'install-to-disk', ['stage', 'started'], signal);
    const folder = join(host.ownView, 'run/sno-agents/disk/etc/kubernetes');
    const begun = succeeds(async () => {
      const names = await readdir(folder);
      if (!names.some((name) => name.includes('.sno-staged-'))) throw new Error('none yet');
    });
    const late = () => new Failure('deadline', 'no file was written to the disk');
    const limits = { signal, deadlineMs: patient(STAGE_MS), everyMs: patient(LOOK_EVERY_MS) };
    await waitUntil(begun, { ...limits, late });
  }

  /** Until the host restarts as the installed one. What is in memory is kept for what is looked for later. */
  override async bootstrap(report: Report, label: string): Promise<void> {
    const host = this.booted;
    const { signal } = this.context;
    await this.following(label, report, async () => {
      const [exit] = await Promise.all([
        waitForOwnExit(host, UNITS, patient(BOOTSTRAP_MS), signal),
        this.#keepMemory(host.ownView),
      ]);
      if (exit !== 'reboot') {
        throw new Failure('fatal', 'the host ended', { expected: 'a restart', found: exit });
      }
    });
    await host.stop();
    this.host = undefined;
  }

  async #keepMemory(view: string): Promise<void> {
    const { folder, signal } = this.context;
    const assets = join(view, 'opt/openshift');
    const done = async () => {
      if (!(await exists(join(assets, '.bootkube.done')))) throw new Error('bootkube runs');
    };
    await eventually(done, patient(BOOTSTRAP_MS), signal);
    const combined = join(folder, 'combined.ign');
    await copyFile(join(assets, 'master.ign'), combined);
    await this.keepLive(view);
    this.carries(await readCarriedIn(combined));
    const own = { name: 'the key of the bundle', bytes: Buffer.from(await this.#bundleKey()) };
    this.#traces = [...(await this.#tracesIn(assets, combined)), own];
    if (this.#traces.length < LEAST_TRACES) {
      throw new Failure('fatal', 'too little to look for', { found: `${this.#traces.length}` });
    }
  }

  async #bundleKey(): Promise<string> {
    const text = await readFile(this.created.ignition, 'utf8');
    const { config } = effectiveConfig(parseConfig(text, 'the user data'));
    const { config: path } = inPlacePlaces(hostPaths());
    const contents = config.storage?.files?.find((each) => each.path === path)?.contents ?? {};
    const [key] = /AGE-SECRET-KEY-1[0-9A-Z]+/.exec(decodeDataUrl(contents).toString('utf8')) ?? [];
    if (key === undefined) throw new Error('the user data has no key');
    return key;
  }

  /** Files of the bootstrap, keys that are gone later, and the bundle: but for what the installed host has, too. */
  async #tracesIn(assets: string, combined: string): Promise<Trace[]> {
    const text = await readFile(combined, 'utf8');
    const { config } = effectiveConfig(parseConfig(text, 'the combined config'));
    const { ledger } = await readCarriedIn(combined);
    const carried = (config.storage?.files ?? []).map(({ path, contents }) => ({
      ...{ path, bytes: decodeDataUrl(contents ?? {}) },
    }));
    const left = new Set(ledger.entries.map(({ path }) => path));
    // The database is restored as it is.
    const kept = carried.filter(
      ({ path }) => !left.has(path) || path.endsWith(`/${SNAPSHOT_FILE}`),
    );
    // What was gathered is redacted; the log bundle has it, which stays.
    const files = await filesBelow(assets, '/opt/openshift', '/opt/openshift/gather');
    // Names, links and units are on the host, and in the record of what was staged.
    const around = Buffer.from(text.replaceAll(/"source":"[^"]*"/g, '"source":""'));
    const stays = [...kept.map(({ bytes }) => bytes), await readFile(executable), around];
    const gone = carried.filter(({ bytes }) =>
      keyFingerprintsIn(bytes.toString('latin1')).some((key) => ledger.goneKeys.includes(key)),
    );
    const traces = tracesOf([
      ...files,
      { name: BUNDLE, bytes: this.#bundle },
      ...gone.map(({ path, bytes }) => ({ name: `the key in ${path}`, bytes })),
    ]);
    return traces.filter(({ bytes }) => !stays.some((each) => each.includes(bytes)));
  }

  override async checkCluster(report: Report): Promise<void> {
    // The steps and the config of a live image; user data have no key at all (test/unit/cli/in-place.test.ts).
    await super.checkCluster(report, [journalStory.name, mediumWithoutAdministrator.name]);
  }

  /** The host is off: whoever has the disk sees this. */
  async checkRawDisk(report: Report): Promise<void> {
    await this.host?.stop();
    this.host = undefined;
    const { signal } = this.context;
    report(`${this.#traces.length} traces`);
    await expectNone(this.site.disk, this.#traces, signal);
  }

  /** One file of the bootstrap is written and deleted again. */
  async expectFound(): Promise<void> {
    const { signal, folder } = this.context;
    await expectPlanted(this.site.disk, this.#traces, join(folder, 'planted'), signal);
  }
}
