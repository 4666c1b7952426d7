import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { run } from '../../lib/host/command.ts';
import { kubectl } from '../checks/kubectl.ts';
import { steady } from '../checks/steady.ts';
import { LIVE_ISO } from '../components/live-iso.ts';
import { type HostIdentity, SITE, startNetwork } from '../host/network.ts';
import { onHost } from '../host/on-host.ts';
import { Installation, needed, type Report } from '../installation.ts';
import { mountIso } from '../medium.ts';
import { cli } from '../paths.ts';
import { SITE_DOMAIN } from '../relocation.ts';
import { DISK, emptyDisk } from '../site.ts';
import { type BackupStore, startBackupStore } from './backup-store.ts';
import { Bmc } from './bmc.ts';
import { Hub } from './hub.ts';
import { Metal } from './metal.ts';
import { cellOf, NAMESPACE, Sites } from './sites.ts';

const NAME = 'edge';
const TEMPLATE = 'new-shop';
const SHARED = 'shared.iso';
/** On the hub: it has the shared ISO and that of the site. */
const STORAGE = '3Gi';
const CREATE_MS = 3 * 60_000;
const BACKUP_MS = 5 * 60_000;
const REPORTED_MS = 4 * 60_000;
const PULL_SECRET = JSON.stringify({
  auths: { 'registry.example.org': { auth: 'bGFiOnNlY3JldA==' } },
});

/** As the site's DHCP and DNS know it. */
const NODE: HostIdentity = {
  name: 'node0',
  mac: '52:54:00:00:00:2a',
  addresses: ['10.77.0.20'],
  bridge: SITE.bridge,
};
/** For the name server of the hub, whose pods ask for the API of the node. */
const API_OF_NODE: HostIdentity = { ...NODE, name: `api.${SITE_DOMAIN}` };

const installConfig = {
  apiVersion: 'v1',
  baseDomain: SITE_DOMAIN.replace(/^[^.]+\./, ''),
  metadata: { name: cellOf('site') },
  compute: [{ name: 'worker', replicas: 0 }],
  controlPlane: { name: 'master', replicas: 1 },
  networking: { machineNetwork: [{ cidr: SITE.segments.IPv4.network }] },
  platform: { none: {} },
  bootstrapInPlace: { installationDisk: cellOf('disk') },
  pullSecret: cellOf('pull_secret'),
};

/** A machine with an empty disk and a BMC, which a hub installs: nobody touches it. */
export class NewNode extends Installation {
  #hub: Hub | undefined;
  #sites: Sites | undefined;
  #store: BackupStore | undefined;
  #metal: Metal | undefined;
  #bmc: Bmc | undefined;

  get #folder(): string {
    return join(this.context.folder, 'fleet');
  }

  get sites(): Sites {
    return needed(this.#sites);
  }

  get hub(): Hub {
    return needed(this.#hub);
  }

  /** A network with DNS and DHCP, an empty disk, and a store for backups. */
  async openSite(): Promise<void> {
    const { folder, teardown, signal } = this.context;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const place = { domain: SITE_DOMAIN, host: NODE, place: SITE };
    const network = await startNetwork(place, folder, teardown, signal);
    const disk = await emptyDisk(folder);
    this.prepared({ folder, network, host: NODE, disk }, this.#made);
    this.#store = await startBackupStore(join(folder, 'backups'), this.context);
  }

  /** What there is once the live ISO is booted, and the hub has collected. */
  get #made() {
    const at = (name: string) => join(this.#folder, name);
    return { ignition: at('embedded.ign'), kubeconfig: at('collected.kubeconfig') };
  }

  /** Which reaches the site, by its name server too. */
  async installHub(report: Report): Promise<void> {
    const hub = new Hub(this.context, { dns: true, otherHosts: [API_OF_NODE] });
    this.#hub = hub;
    await hub.create();
    await hub.writeDisk('hub-live');
    await hub.bootInstalled('hub');
    await hub.finish(report, 'hub');
    await hub.open();
  }

  /** By the files that the product ships; the shared ISO gets into the claim by the pod for that. */
  async prepareHub(): Promise<void> {
    this.#sites = new Sites(this.hub, this.#folder);
    const { kubectl: ask } = this.sites;
    await this.sites.prepareHub(STORAGE);
    const secret = ['create', 'secret', 'generic'];
    await ask(...secret, 'pull-secret', `--from-literal=pull_secret=${PULL_SECRET}`);
    const backupTo = join(this.#folder, 'backup-to.json');
    await writeFile(backupTo, needed(this.#store).backupTo, { mode: 0o600 });
    await ask(...secret, 'fleet-backups', `--from-file=${backupTo}`);
    const { components, signal } = this.context;
    const shared = join(this.#folder, SHARED);
    const iso = join(components.liveIso, LIVE_ISO);
    const create = ['create', 'shared-iso', '--iso', iso, '--payload', components.payload];
    const env = { PATH: `${components.coreosInstaller}:${process.env.PATH}` };
    await run(cli, [...create, '--output', shared], { signal, deadlineMs: CREATE_MS, env });
    await this.sites.copyIn(shared);
    await rm(shared);
  }

  async importSite(): Promise<void> {
    const template = join(this.#folder, 'template');
    await mkdir(template);
    await writeFile(join(template, 'install-config.yaml'), JSON.stringify(installConfig));
    const table = join(this.#folder, 'sites.csv');
    await writeFile(table, `site,wave,bareMetalHost,disk\n${NAME},1,${NAME},${DISK}\n`);
    await this.sites.import(
      ...['--action', 'install', '--table', table, '--template', TEMPLATE],
      ...['--template-dir', template, '--secrets', 'pull-secret,fleet-backups'],
      ...['--secret-values', 'pull_secret'],
    );
  }

  /** The machine is off, and its disk is empty. */
  async addHost(): Promise<void> {
    const { apply, kubectl: ask } = this.sites;
    await Metal.install(apply, ask, { namespace: NAMESPACE, name: NAME, spec: { online: false } });
    const off = async () => {
      await this.booted.stop();
      this.host = undefined;
    };
    this.#bmc = new Bmc({ off, on: (medium) => this.#powerOn(medium) }, 'Off');
    const redfish = await this.#bmc.start(this.context);
    this.#metal = new Metal(ask, NAME, redfish);
  }

  /** The first Job of the wave; then the BMC boots what it has made. */
  async deliver(): Promise<void> {
    await this.sites.deliver(1, '--shared-iso', SHARED, '--hub-server', `${this.hub.server}:6443`);
    await this.sites.expect(NAME, 'Delivered', 'True');
    await needed(this.#metal).provision();
    await needed(this.#bmc).settled();
  }

  async #powerOn(iso: string | undefined): Promise<void> {
    if (iso === undefined) {
      await this.bootInstalled();
      return;
    }
    const { components, signal } = this.context;
    const installer = join(components.coreosInstaller, 'coreos-installer');
    const show = ['iso', 'ignition', 'show', iso];
    const config = await run(installer, show, { signal, deadlineMs: CREATE_MS });
    await writeFile(this.#made.ignition, config, { mode: 0o600 });
    const folder = join(this.context.folder, 'medium');
    await mountIso(iso, folder, this.context);
    this.prepared(this.site, this.#made, { iso, folder });
    await this.bootLive();
  }

  /** The live system reports from its first minute on. */
  async reportsFromLive(report: Report): Promise<void> {
    await this.sites.reported(NAME, 'Started', 'True', REPORTED_MS);
    report((await this.sites.kubectl('get', 'site', NAME, '--no-headers')).trim());
  }

  /** It has told the hub itself; the hub has its administrator, and nothing that it needs no longer. */
  async collect(report: Report): Promise<void> {
    const { signal, out } = this.context;
    report(await this.sites.reported(NAME, 'Completed', 'True', REPORTED_MS));
    await this.sites.collect();
    const { kubeconfig = '', 'backup-signer.json': signer } = await this.sites.administrator(NAME);
    await writeFile(this.#made.kubeconfig, kubeconfig, { mode: 0o600 });
    const groups = await kubectl(
      this.cluster,
      ['auth', 'whoami', '--output=jsonpath={.status.userInfo.groups}'],
      signal,
    );
    if (!groups.includes('sno:administrators') || signer === undefined) {
      throw new Failure('fatal', 'the kubeconfig on the hub is not one that the node has signed', {
        found: groups,
      });
    }
    await writeFile(join(this.#folder, 'backup-signer.json'), signer, { mode: 0o600 });
    await steady.run(this.cluster, signal);
    await needed(this.#metal).expectDetached();
    await this.#expectNothingLeft();
    const sites = await this.sites.kubectl('get', 'sites', '--output=wide');
    await writeFile(join(out, 'sites.txt'), sites);
  }

  override get cluster() {
    return { ...super.cluster, domain: SITE_DOMAIN };
  }

  /** No ISO, and no config with keys. */
  async #expectNothingLeft(): Promise<void> {
    const published = await readdir(await this.sites.published());
    const kept = await this.sites.kubectl('get', 'secret', `${NAME}-auth`, '--output=json');
    const keys = Object.keys(JSON.parse(kept).data);
    if (published.join() === SHARED && !keys.includes('live.ign.gz')) return;
    throw new Failure('fatal', 'secrets of the installation are left on the hub', {
      expected: `${SHARED}, and no config`,
      found: `${published.join(', ')}; ${keys.join(', ')}`,
    });
  }

  /** The timer's unit stores it; the hub hears of it, and the laptop can make another host of it. */
  async backUp(report: Report): Promise<void> {
    const { signal, folder } = this.context;
    const ask = (...argv: string[]) => onHost(this.booted, argv, signal, BACKUP_MS);
    await ask('systemctl', 'is-active', 'sno-backup-push.timer');
    const triggers = ['--property=Triggers', '--value'];
    const unit = await ask('systemctl', 'show', 'sno-backup-push.timer', ...triggers);
    await ask('systemctl', 'start', 'sno-backup.service');
    // It has begun with that one, and a start waits for its end.
    await ask('systemctl', 'start', unit);
    report(await ask('sno-backup-push', 'status'));
    const stored = await needed(this.#store).stored();
    const [backup = ''] = stored;
    if (stored.length !== 1) {
      throw new Failure('fatal', 'the store has not one backup', { found: stored.join(', ') });
    }
    const identity = join(this.#folder, 'identity.txt');
    await writeFile(identity, `${needed(this.#store).identity}\n`, { mode: 0o600 });
    const target = join(folder, 'other-hardware');
    await mkdir(target);
    const restore = ['create', 'restore-ignition', '--dir', target, '--backup', backup];
    const opened = ['--identity', identity, '--signer', join(this.#folder, 'backup-signer.json')];
    const limits = { signal, deadlineMs: CREATE_MS };
    await run(cli, [...restore, ...opened, ...this.hub.served.options], limits);
    await ask('systemctl', 'start', 'sno-report.service');
    const path = '{.status.report.changes[?(@.change=="backup")].state}';
    const told = await this.sites.kubectl('get', 'site', NAME, `--output=jsonpath=${path}`);
    if (told === 'done') return;
    throw new Failure('fatal', 'the hub has not heard of the backup', { found: told });
  }
}
