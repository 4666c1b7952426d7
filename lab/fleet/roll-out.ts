import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { run } from '../../lib/host/command.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { reportPaths } from '../../lib/relocation/relocatable/report.ts';
import { createAuthority, issueLeaf } from '../certificates/signed-now.ts';
import { kubectl } from '../checks/kubectl.ts';
import { eventually } from '../eventually.ts';
import { bootAgain } from '../faults/cells/faults.ts';
import { serveFiles } from '../host/http-server.ts';
import { SITE } from '../host/network.ts';
import { onHost } from '../host/on-host.ts';
import { cli, repository } from '../paths.ts';
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
import { HUB_NAME, HUB_SERVER, openWayTo } from './way-to-hub.ts';
import { WORKER_IMAGE } from './worker-image.ts';

const NAMESPACE = 'sno-fleet';
const NAME = 'edge';
const TEMPLATE = 'shop';
const FACTS = 'facts-of-edge';
const CLAIM = 'sno-fleet-volumes';
const SIGN_SECRET = 'sno-fleet-sign';
const { bridge: LAB } = SITE.segments.IPv4;
const PORT = 8090;
/** For BMCs, which speak HTTPS. */
const MEDIA_PORT = 8093;
const SNO_MS = 120_000;
const JOB_MS = 5 * 60_000;
const ENDS_MS = 12 * 60_000;
const UPDATED_MS = 20 * 60_000;
/** A report that could not be sent is tried again with pauses. */
const REPORTED_MS = 4 * 60_000;
/** Nothing listens there. */
const CLOSED_PORT = '9';

/** A node of the factory that a hub moves: nobody touches it at its site. */
export class RolledOut extends Factory {
  #hub: Hub | undefined;
  #isServed = false;
  /** How the first volume has ended. */
  #before: SiteResult | undefined;

  get #folder(): string {
    return join(this.context.folder, 'fleet');
  }

  get hub(): Hub {
    if (this.#hub === undefined) throw new Error('there is no hub yet');
    return this.#hub;
  }

  protected override get otherHosts() {
    return [HUB_NAME];
  }

  protected override get siteUrl() {
    return `http://${LAB}:${PORT}`;
  }

  /** In the factory: it will ask for its volume where the site's DHCP says. */
  async fixUrl(): Promise<void> {
    await this.command('reconfigure', 'prepare', '--site-url', 'dhcp');
  }

  /** Of the report of the factory, for the hub. */
  async takeFacts(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const { facts } = reportPaths(hostPaths(this.booted.rootDir));
    await copyFile(facts, this.#facts);
  }

  get #facts(): string {
    return join(this.#folder, 'host-facts.json');
  }

  /** What a hub has before its first wave, by the files that the product ships; its web server is the lab's. */
  async openHub(): Promise<void> {
    this.#hub = new Hub(this.context);
    await this.hub.copyOf(this.run);
    await openWayTo(hostOf(['IPv4']).addresses[0], this.context.teardown);
    await this.hub.switchOn();
    const { hub } = this;
    await hub.kubectl('apply', '--server-side', '-k', join(repository, 'deploy/fleet'));
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: CLAIM, namespace: NAMESPACE },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '100Mi' } } },
    };
    await this.#apply('claim', claim);
    const create = ['create', '--namespace', NAMESPACE];
    await hub.kubectl(...create, 'configmap', FACTS, `--from-file=host-facts.json=${this.#facts}`);
    const key = `--from-file=id=${this.signingKey}`;
    await hub.kubectl(...create, 'secret', 'generic', SIGN_SECRET, key);
  }

  /** A table of one site, whose check of the network cannot be met. */
  async importSite(): Promise<void> {
    const template = join(this.#folder, 'template');
    await mkdir(template);
    const config = siteConfig(NAME, {
      siteChecks: [{ ping: LAB }, { tcp: `${LAB}:\${port}` }],
    });
    await writeFile(join(template, 'site-config.yaml'), JSON.stringify(config));
    const table = join(this.#folder, 'sites.csv');
    const columns = 'site,wave,delivery,hostFacts,port';
    await writeFile(table, `${columns}\n${NAME},1,url,${FACTS},${CLOSED_PORT}\n`);
    const objects = await this.#sno(
      ...['fleet', 'import', '--table', table, '--namespace', NAMESPACE],
      ...['--template', TEMPLATE, '--template-dir', template],
    );
    await this.#applyText('sites', objects);
  }

  /** The Jobs of its wave, which the hub runs one after the other. */
  async deliver(): Promise<void> {
    const { hub } = this;
    const jobs = await this.#sno(
      ...['fleet', 'jobs', '--selector', 'wave=1', '--namespace', NAMESPACE, '--count', '1'],
      ...['--image', WORKER_IMAGE, '--canaries', '0', '--hub-server', HUB_SERVER],
      ...['--publish-url', `https://${LAB}:${MEDIA_PORT}`],
    );
    await hub.kubectl(
      ...['delete', 'job', '--all', '--namespace', NAMESPACE, '--ignore-not-found'],
    );
    await this.#applyText('jobs', jobs);
    await this.#jobEnds('sno-fleet-1');
    await this.#expect('Delivered', 'True');
    await this.#serve();
  }

  /** What the worker has written to the hub's volume. */
  async #serve(): Promise<void> {
    if (this.#isServed) return;
    this.#isServed = true;
    const { hub } = this;
    const claim = ['get', 'pvc', CLAIM, '--namespace', NAMESPACE];
    const volume = await hub.kubectl(...claim, '--output=jsonpath={.spec.volumeName}');
    const paths = '{.spec.hostPath.path}{.spec.local.path}';
    const path = await hub.kubectl('get', 'pv', volume, `--output=jsonpath=${paths}`);
    const published = join(hub.booted.rootDir, path.trim());
    const { teardown } = this.context;
    await serveFiles(published, PORT, teardown, { address: LAB });
    const profile = { subject: { commonName: LAB }, usage: 'server', ipAddresses: [LAB] } as const;
    const tls = await issueLeaf(await createAuthority('media'), profile);
    await serveFiles(published, MEDIA_PORT, teardown, { address: LAB, tls });
  }

  /** Nobody inserts anything. */
  async switchOn(): Promise<void> {
    await bootAgain(this.run);
  }

  /** The hub learns from the node why it is not moved, after it has gone back. */
  async failsAtSite(report: (line: string) => void): Promise<void> {
    await eventually(() => this.#expectOff(), ENDS_MS, this.context.signal);
    report('the node goes back');
    await bootAgain(this.run);
    const reason = await this.#reported('Failed', 'True', ENDS_MS);
    report(reason);
    if (reason !== 'site-check') {
      const expected = 'site-check';
      throw new Failure('fatal', 'the hub has another reason', { expected, found: reason });
    }
    const status = await this.#sno('fleet', 'status', ...this.#at);
    if (status.includes('site-check')) return;
    throw new Failure('fatal', 'sno fleet status does not name it', { found: status });
  }

  /** It restarts by itself to go back. */
  async #expectOff(): Promise<void> {
    if (!(await this.booted.hasEnded())) throw new Failure('retry', 'the node does not go back');
    await this.booted.stop();
  }

  /** The node has a BMC, which the hub knows. */
  async addHost(): Promise<void> {
    await Metal.install(this.#applier, (...args) => this.hub.kubectl(...args), NAMESPACE, NAME);
  }

  /**
   * A higher serial, with what was wrong put right, by virtual media: the BMC switches the node off, and on again with the
   * volume in its drive. Nobody reaches the hub while the node moves.
   */
  async correct(): Promise<void> {
    const delivery = { by: 'virtualMedia', bareMetalHost: { name: NAME } };
    const patch = JSON.stringify({ spec: { serial: 2, values: { port: `${PORT}` }, delivery } });
    const site = ['patch', 'site', NAME, '--namespace', NAMESPACE];
    await this.hub.kubectl(...site, '--type=merge', '--patch', patch);
    await this.deliver();
    await this.#expect('Failed', 'False');
    const { signal, teardown } = this.context;
    this.#before = await readSiteResult(this.booted);
    const bmc = new Bmc({
      off: () => this.booted.stop(),
      on: async (medium) => {
        await bootAgain(this.run);
        if (medium !== undefined) await new Drive(teardown).insert(this.booted, medium, signal);
      },
    });
    const redfish = await bmc.start(this.context);
    const inNamespace = (...args: readonly string[]) =>
      this.hub.kubectl('--namespace', NAMESPACE, ...args);
    await new Metal(inNamespace, NAME, redfish).restart();
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
    report(await this.#reported('Completed', 'True', REPORTED_MS));
  }

  /** The last Job of the wave: the node's kubeconfig is on the hub, and works. */
  async collect(): Promise<void> {
    const { signal, out } = this.context;
    const { hub } = this;
    const resume = JSON.stringify({ spec: { suspend: false } });
    const job = ['patch', 'job', 'sno-fleet-1-collect', '--namespace', NAMESPACE];
    await hub.kubectl(...job, '--type=merge', '--patch', resume);
    await this.#jobEnds('sno-fleet-1-collect');
    const secret = ['get', 'secret', `${NAME}-admin-kubeconfig`, '--namespace', NAMESPACE];
    const text = await hub.kubectl(...secret, '--output=jsonpath={.data.kubeconfig}');
    const kubeconfig = join(this.#folder, 'site.kubeconfig');
    await writeFile(kubeconfig, Buffer.from(text, 'base64'), { mode: 0o600 });
    const cluster = { ...this.run.cluster, kubeconfig, domain: `${NAME}.site.test` };
    const ready = ['wait', 'node', '--all', '--for=condition=Ready', '--timeout=60s'];
    await kubectl(cluster, ready, signal);
    const media = await hub.kubectl('get', 'dataimages', '--all-namespaces', '--output=name');
    if (media.trim() !== '')
      throw new Failure('fatal', 'the volume stays in the drive', { found: media });
    const sites = await hub.kubectl('get', 'sites', '--namespace', NAMESPACE, '--output=wide');
    await writeFile(join(out, 'sites.txt'), sites);
  }

  /** The hub names an update, and the node takes it: nobody reaches the node. */
  async update(report: (line: string) => void): Promise<void> {
    const { rootDir } = this.booted;
    const folder = join(this.#folder, 'update');
    const update = await namedUpdate(this.context, folder, { address: LAB, rootDir });
    const patch = JSON.stringify({ spec: { action: 'update', serial: 3, update } });
    const site = ['patch', 'site', NAME, '--namespace', NAMESPACE];
    await this.hub.kubectl(...site, '--type=merge', '--patch', patch);
    await this.deliver();
    await this.#expect('Completed', 'False');
    // The timer would ask within twenty minutes.
    const asked = join(rootDir, 'var/lib/sno-agents/sno-report/state.json');
    const state = JSON.parse(await readFile(asked, 'utf8'));
    await writeFile(asked, JSON.stringify({ ...state, site: undefined }));
    await onHost(this.booted, ['systemctl', 'start', 'sno-report.service'], this.context.signal);
    report(await this.#reported('Completed', 'True', UPDATED_MS));
    await this.collect();
  }

  /** The key with which the node reports cannot do anything else. */
  async cannotDoMore(): Promise<void> {
    const { signal } = this.context;
    await requireNoMoreRights(this.booted.rootDir, this.#folder, { namespace: NAMESPACE, signal });
  }

  get #at(): string[] {
    return ['--kubeconfig', this.hub.kubeconfig, '--namespace', NAMESPACE];
  }

  #sno(...args: readonly string[]): Promise<string> {
    return run(cli, [...args], { signal: this.context.signal, deadlineMs: SNO_MS });
  }

  readonly #applier = (name: string, object: object) => this.#apply(name, object);

  #apply(name: string, object: object): Promise<void> {
    return this.#applyText(name, JSON.stringify(object));
  }

  async #applyText(name: string, text: string): Promise<void> {
    const file = join(this.#folder, `${name}.yaml`);
    await writeFile(file, text, { mode: 0o600 });
    await this.hub.kubectl('apply', '--server-side', '--filename', file);
  }

  /** @throws Failure with what its pods said, unless it completes */
  async #jobEnds(name: string): Promise<void> {
    const { hub } = this;
    const get = ['get', 'job', name, '--namespace', NAMESPACE];
    const path = '--output=jsonpath={.status.conditions[?(@.status=="True")].type}';
    const ended = async () => {
      const types = (await hub.kubectl(...get, path)).split(' ');
      if (types.includes('Complete')) return true;
      if (types.includes('Failed')) return false;
      throw new Failure('retry', `the Job ${name} has not ended`, { found: types.join(', ') });
    };
    if (await eventually(ended, JOB_MS, this.context.signal)) return;
    const logs = ['logs', '--namespace', NAMESPACE, `--selector=job-name=${name}`];
    throw new Failure('fatal', `the Job ${name} has failed`, { found: await hub.kubectl(...logs) });
  }

  async #condition(type: string): Promise<{ status: string; reason: string }> {
    const path = `{.status.conditions[?(@.type=="${type}")]['status','reason']}`;
    const site = ['get', 'site', NAME, '--namespace', NAMESPACE, `--output=jsonpath=${path}`];
    const [status = '', reason = ''] = (await this.hub.kubectl(...site)).split(' ');
    return { status, reason };
  }

  async #expect(type: string, status: string): Promise<string> {
    const found = await this.#condition(type);
    if (found.status === status) return found.reason;
    throw new Failure('retry', `the Site's condition ${type} is another one`, {
      expected: status,
      found: `${found.status} ${found.reason}`,
    });
  }

  #reported(type: string, status: string, deadlineMs: number): Promise<string> {
    return eventually(() => this.#expect(type, status), deadlineMs, this.context.signal);
  }
}
