import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { reportPaths } from '../../lib/relocation/relocatable/report.ts';
import { kubectl } from '../checks/kubectl.ts';
import { eventually } from '../eventually.ts';
import { bootAgain } from '../faults/cells/faults.ts';
import { SITE } from '../host/network.ts';
import { onHost } from '../host/on-host.ts';
import { needed } from '../installation.ts';
import { Drive } from '../relocate/drive.ts';
import { Factory } from '../relocate/factory.ts';
import { siteConfig } from '../relocate/media.ts';
import { hostOf } from '../site.ts';
import { readSiteResult, type SiteResult } from '../site-arrival.ts';
import { Bmc } from './bmc.ts';
import { Hub } from './hub.ts';
import { Metal } from './metal.ts';
import { namedUpdate } from './named-update.ts';
import { requireNoMoreRights } from './node-rights.ts';
import { cellOf, MEDIA, NAMESPACE, Sites } from './sites.ts';
import { UNPLUGGED, UnpluggedNode } from './unplugged-node.ts';
import { HUB_NAME, HUB_SERVER, openWayTo } from './way-to-hub.ts';

const NAME = 'edge';
const TEMPLATE = 'shop';
const SIGN_SECRET = 'sno-fleet-sign';
const { bridge: LAB } = SITE.segments.IPv4;
/** For volumes. */
const STORAGE = '100Mi';
const ENDS_MS = 12 * 60_000;
const UPDATED_MS = 20 * 60_000;
/** A report that could not be sent is tried again with pauses. */
const REPORTED_MS = 4 * 60_000;
/** Nothing listens there. */
const CLOSED_PORT = '9';
const PORT = new URL(MEDIA.nodes).port;
/** The index of the node without a cable, in the Jobs of the wave. */
const UNPLUGGED_INDEX = '1';

/** Two nodes of the factory that a hub moves. Nobody touches the first one at its site; the other one has no cable. */
export class RolledOut extends Factory {
  #hub: Hub | undefined;
  #sites: Sites | undefined;
  #unplugged: UnpluggedNode | undefined;
  /** How the first volume has ended. */
  #before: SiteResult | undefined;

  get #folder(): string {
    return join(this.context.folder, 'fleet');
  }

  get hub(): Hub {
    return needed(this.#hub);
  }

  get sites(): Sites {
    return needed(this.#sites);
  }

  protected override get otherHosts() {
    return [HUB_NAME, UNPLUGGED];
  }

  protected override get siteUrl() {
    return MEDIA.nodes;
  }

  /** In the factory: it will ask for its volume where the site's DHCP says. */
  async fixUrl(): Promise<void> {
    await this.command('reconfigure', 'prepare', '--site-url', 'dhcp');
  }

  /** Of the report of the factory, for the hub. */
  async takeFacts(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const { facts } = reportPaths(hostPaths(this.booted.rootDir));
    await copyFile(facts, this.#facts(NAME));
    const own = JSON.parse(await readFile(facts, 'utf8'));
    const ofCopy = JSON.stringify({ ...own, identifiers: [UNPLUGGED.mac] });
    await writeFile(this.#facts(UNPLUGGED.name), ofCopy);
  }

  #facts(node: string): string {
    return join(this.#folder, `${node}-host-facts.json`);
  }

  async openHub(): Promise<void> {
    const hub = new Hub(this.context);
    this.#hub = hub;
    await hub.copyOf(this.run);
    this.#unplugged = new UnpluggedNode(this.context);
    await this.#unplugged.copyOf(this.run);
    await openWayTo(hostOf(['IPv4']).addresses[0], this.context.teardown);
    await hub.switchOnSealed();
    this.#sites = new Sites(hub, this.#folder);
    await this.sites.prepareHub(STORAGE);
    for (const node of [NAME, UNPLUGGED.name]) {
      const facts = `--from-file=host-facts.json=${this.#facts(node)}`;
      await this.sites.kubectl('create', 'configmap', `facts-of-${node}`, facts);
    }
    const key = `--from-file=id=${this.signingKey}`;
    await this.sites.kubectl('create', 'secret', 'generic', SIGN_SECRET, key);
  }

  /** A table of two sites. The first has a check of its network that cannot be met. */
  async importSites(): Promise<void> {
    const template = join(this.#folder, 'template');
    await mkdir(template);
    const config = siteConfig(cellOf('site'), {
      siteChecks: [{ ping: LAB }, { tcp: `${LAB}:${cellOf('port')}` }],
    });
    await writeFile(join(template, 'site-config.yaml'), JSON.stringify(config));
    const table = join(this.#folder, 'sites.csv');
    const rows = [
      'site,wave,delivery,hostFacts,port',
      `${NAME},1,url,facts-of-${NAME},${CLOSED_PORT}`,
      `${UNPLUGGED.name},1,person,facts-of-${UNPLUGGED.name},${PORT}`,
    ];
    await writeFile(table, `${rows.join('\n')}\n`);
    await this.sites.import('--table', table, '--template', TEMPLATE, '--template-dir', template);
  }

  /** The first Job of the wave, which the hub runs: both volumes at once. */
  async deliver(): Promise<void> {
    await this.sites.deliver(2, '--parallelism', '2', '--hub-server', HUB_SERVER);
    await this.sites.expect(NAME, 'Delivered', 'True');
    await this.sites.expect(UNPLUGGED.name, 'Delivered', 'True');
  }

  /** Nobody inserts anything. */
  async switchOn(): Promise<void> {
    await bootAgain(this.run);
  }

  /** The hub learns from the nodes why they are not moved, after they have gone back. */
  async failAtSite(report: (line: string) => void): Promise<void> {
    await Promise.all([this.#failsByCheck(report), this.#failsByCable(report)]);
    const status = await this.sites.status();
    if (status.includes('site-check') && status.includes('site-link')) return;
    throw new Failure('fatal', 'sno fleet status does not name both', { found: status });
  }

  async #failsByCheck(report: (line: string) => void): Promise<void> {
    await eventually(() => this.#expectOff(), ENDS_MS, this.context.signal);
    report(`${NAME} goes back`);
    await bootAgain(this.run);
    await this.#expectReason(NAME, 'site-check', report);
  }

  /** A person brings the volume. Without a cable, the node cannot say anything before somebody has mended that. */
  async #failsByCable(report: (line: string) => void): Promise<void> {
    const node = needed(this.#unplugged);
    await node.arrive(await this.sites.volume(UNPLUGGED.name));
    report(`${UNPLUGGED.name} goes back`);
    await node.plugIn();
    await this.#expectReason(UNPLUGGED.name, 'site-link', report);
    await node.booted.stop();
  }

  async #expectReason(site: string, expected: string, report: (line: string) => void) {
    const reason = await this.sites.reported(site, 'Failed', 'True', ENDS_MS);
    report(`${site}: ${reason}`);
    if (reason === expected) return;
    throw new Failure('fatal', `the hub has another reason for ${site}`, {
      expected,
      found: reason,
    });
  }

  /** It restarts by itself to go back. */
  async #expectOff(): Promise<void> {
    if (!(await this.booted.hasEnded())) throw new Failure('retry', 'the node does not go back');
    await this.booted.stop();
  }

  /** The node has a BMC, which the hub knows. */
  async addHost(): Promise<void> {
    const { apply, kubectl: ask } = this.sites;
    const spec = { externallyProvisioned: true, online: true };
    await Metal.install(apply, ask, { namespace: NAMESPACE, name: NAME, spec });
  }

  /**
   * A higher serial, with what was wrong put right, by virtual media: the BMC switches the node off, and on again with the
   * volume in its drive. Nobody reaches the hub while the node moves.
   */
  async correct(): Promise<void> {
    const delivery = { by: 'virtualMedia', bareMetalHost: { name: NAME } };
    await this.sites.change(NAME, { serial: 2, values: { port: PORT }, delivery });
    await this.deliver();
    await this.sites.expect(NAME, 'Failed', 'False');
    const { signal, teardown } = this.context;
    this.#before = await readSiteResult(this.booted);
    const bmc = new Bmc(
      {
        off: () => this.booted.stop(),
        on: async (medium) => {
          await bootAgain(this.run);
          if (medium !== undefined) await new Drive(teardown).insert(this.booted, medium, signal);
        },
      },
      'On',
    );
    const redfish = await bmc.start(this.context);
    await new Metal(this.sites.kubectl, NAME, redfish).restart();
    await bmc.settled();
    await this.hub.unplug();
  }

  /** Of the second volume. */
  override async pass(report: (line: string) => void): Promise<void> {
    const isNew = async () => {
      const result = await readSiteResult(this.booted);
      if (result !== undefined && result.endedAt !== this.#before?.endedAt) return;
      throw new Failure('retry', 'the second volume has not ended');
    };
    await eventually(isNew, ENDS_MS, this.context.signal);
    await super.pass(report);
  }

  async reportsLater(report: (line: string) => void): Promise<void> {
    await this.hub.plugIn();
    // The timer would try again within the hour.
    await onHost(this.booted, ['systemctl', 'start', 'sno-report.service'], this.context.signal);
    report(await this.sites.reported(NAME, 'Completed', 'True', REPORTED_MS));
  }

  /** The last Job of the wave: the kubeconfig of the moved node is on the hub, and works; the other node has failed. */
  async collect(): Promise<void> {
    const { signal, out } = this.context;
    await this.sites.collect(UNPLUGGED_INDEX);
    const { kubeconfig: text = '' } = await this.sites.administrator(NAME);
    const kubeconfig = join(this.#folder, 'site.kubeconfig');
    await writeFile(kubeconfig, text, { mode: 0o600 });
    const cluster = { ...this.run.cluster, kubeconfig, domain: `${NAME}.site.test` };
    const ready = ['wait', 'node', '--all', '--for=condition=Ready', '--timeout=60s'];
    await kubectl(cluster, ready, signal);
    const media = await this.sites.kubectl('get', 'dataimages', '--output=name');
    if (media.trim() !== '')
      throw new Failure('fatal', 'the volume stays in the drive', { found: media });
    const sites = await this.sites.kubectl('get', 'sites', '--output=wide');
    await writeFile(join(out, 'sites.txt'), sites);
    await this.sites.expect(UNPLUGGED.name, 'Failed', 'True');
  }

  /** The hub names an update, and the node takes it: nobody reaches the node. */
  async update(report: (line: string) => void): Promise<void> {
    const { rootDir } = this.booted;
    const folder = join(this.#folder, 'update');
    const update = await namedUpdate(this.context, folder, { address: LAB, rootDir });
    await this.sites.change(NAME, { action: 'update', serial: 3, update });
    await this.deliver();
    await this.sites.expect(NAME, 'Completed', 'False');
    // The timer would ask within twenty minutes.
    const asked = join(rootDir, 'var/lib/sno-agents/sno-report/state.json');
    const state = JSON.parse(await readFile(asked, 'utf8'));
    await writeFile(asked, JSON.stringify({ ...state, site: undefined }));
    await onHost(this.booted, ['systemctl', 'start', 'sno-report.service'], this.context.signal);
    report(await this.sites.reported(NAME, 'Completed', 'True', UPDATED_MS));
    await this.collect();
  }

  /** The key with which the node reports cannot do anything else. */
  async cannotDoMore(): Promise<void> {
    const { signal } = this.context;
    await requireNoMoreRights(this.booted.rootDir, this.#folder, { namespace: NAMESPACE, signal });
  }
}
