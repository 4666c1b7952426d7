import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../lib/base/errors/failure.ts';
import { failureDataSchema, failureSentence } from '../lib/base/errors/failure-data.ts';
import { parseJson } from '../lib/base/json.ts';
import { familyOf, urlHost } from '../lib/base/network/address.ts';
import { run } from '../lib/host/command.ts';
import { readTextIfPresent } from '../lib/host/files.ts';
import type { RunningCluster } from './checks/check.ts';
import { kubectl } from './checks/kubectl.ts';
import { inClient, services } from './checks/services.ts';
import { steady } from './checks/steady.ts';
import { ensureComponent } from './components/component.ts';
import { nmstatectl } from './components/nmstatectl.ts';
import { runSubset } from './conformance/subset.ts';
import { eventually } from './eventually.ts';
import { quickly } from './host/command.ts';
import type { Host } from './host/host.ts';
import { teardownSignal } from './host/mount.ts';
import { type HostIdentity, SITE } from './host/network.ts';
import type { Installation, Report } from './installation.ts';
import { SiteLogin } from './login.ts';
import { Drive } from './relocate/drive.ts';
import { staticNetworks } from './relocate/networks.ts';
import { siteCertificate } from './relocate/site-certificate.ts';
import { createVolume, IMAGE, type VolumeInput } from './relocate/volume.ts';
import { Relocation, SITE_DOMAIN } from './relocation.ts';
import { checkLedger } from './restart.ts';
import { DOMAIN, type Families, hostOf } from './site.ts';

const HOSTS = '/etc/hosts';
const CREATE_MS = 60_000;
/** sno-deferred begins when everything else is done. */
const HELD_BACK_MS = 60_000;
const PASS_MS = 12 * 60_000;
const LOOK_MS = 60_000;
const SIGNER = 'etc/sno-agents/site-signer.pub';
const RESULT = 'var/lib/sno-agents/reconfigure/result.json';
const KUBECONFIG = 'var/lib/sno-agents/reconfigure/admin.kubeconfig';

const resultSchema = z.object({
  outcome: z.string(),
  at: z.string(),
  endedAt: z.string(),
  failure: failureDataSchema.optional(),
});

export type SiteResult = z.infer<typeof resultSchema>;

/** How the last site volume of a host has ended; undefined if none has. */
export const readSiteResult = async ({
  rootDir,
}: Pick<Host, 'rootDir'>): Promise<SiteResult | undefined> =>
  resultSchema.safeParse(parseJson((await readTextIfPresent(join(rootDir, RESULT))) ?? '')).data;

/** Of a site: by what the cluster knows its node there. */
export interface SiteWishes {
  readonly hostname: string;
  /** The Node gets the name too, and the address of the site. Default: it keeps those of its installation. */
  readonly isNode?: boolean;
  /** An encrypted volume with a certificate for the API. Default: a request of the administrator, and nothing secret. */
  readonly hasCertificate?: boolean;
  /** Of the cluster. Default: IPv4 alone. */
  readonly families?: Families;
  /** Whether the site says who logs in by SSH. Default: those of the factory stay. */
  readonly hasLogin?: boolean;
}

/** Static addresses instead of the site's DHCP, another domain and another name. */
const siteConfig = (
  { addresses }: Pick<HostIdentity, 'addresses'>,
  { hostname, isNode = false }: SiteWishes,
) => ({
  api_version: 1,
  cluster_name: 'edge',
  base_domain: 'site.test',
  hostname,
  ...(isNode
    ? {
        renameNode: true,
        nodeAddress: 'site',
        machine_networks: addresses.map((each) => segmentOf(each).network),
      }
    : {}),
  siteChecks: addresses.map((each) => ({ ping: segmentOf(each).bridge })),
  node_labels: { site: 'till' },
  raw_nm_state_config: staticNetworks(
    addresses.map((address) => ({ address, gateway: segmentOf(address).bridge })),
  ),
});

const segmentOf = (address: string) => SITE.segments[familyOf(address)];

const MANIFEST = `apiVersion: v1
kind: ConfigMap
metadata: { name: site, namespace: default }
data: { till: "7" }
---
# No operator serves it here: PASS does not wait for it.
apiVersion: lab.example.org/v1
kind: Later
metadata: { name: till }
`;

/** A sealed node at its site, until a technician inserts the volume. */
export class SiteArrival extends Relocation {
  readonly #wishes: SiteWishes;
  #sshd: SiteLogin | undefined;

  constructor(run: Installation, wishes: SiteWishes = { hostname: 'till-7' }) {
    super(run, wishes.families);
    this.#wishes = wishes;
  }

  get #folder(): string {
    return join(this.context.folder, 'site');
  }

  /** Signs its volumes. */
  protected get signingKey(): string {
    return join(this.context.folder, 'site-key');
  }

  /** In the factory: whose volumes the node takes. */
  async fixSigner(): Promise<void> {
    const limits = { signal: this.context.signal, deadlineMs: CREATE_MS };
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', this.signingKey], limits);
    const { rootDir } = this.booted;
    // CoreOS has it.
    const within = { signal: this.context.signal, report: () => undefined };
    const program = join(await ensureComponent(nmstatectl, within), nmstatectl.name);
    await copyFile(program, join(rootDir, 'usr/local/bin', nmstatectl.name));
    await writeFile(join(rootDir, SIGNER), await readFile(`${this.signingKey}.pub`));
    await this.command('reconfigure', 'prepare', '--signer', `/${SIGNER}`);
  }

  get #login(): SiteLogin {
    this.#sshd ??= new SiteLogin(join(this.context.folder, 'login'), this.context.signal);
    return this.#sshd;
  }

  /** In the factory: CoreOS has sshd, the hosts of the lab have not. */
  async startSshd(): Promise<void> {
    await this.#login.install(this.booted);
    await this.#login.expect('factory', hostOf(['IPv4']).addresses[0]);
  }

  get #iso(): string {
    return join(this.#folder, IMAGE);
  }

  /** An ISO of `sno create site-volume`, on a stick that appears. */
  async insert(): Promise<void> {
    const { signal, teardown } = this.context;
    const { hasLogin = false } = this.#wishes;
    const login = hasLogin ? await this.#login.field() : {};
    const config = { ...siteConfig(this.siteHost, this.#wishes), ...login };
    const volume = { config, manifests: { '10-site.yaml': MANIFEST }, key: this.signingKey };
    const secret = this.#hasCertificate ? await this.#withCertificate(config) : {};
    await createVolume(this.#folder, 'ISO', { ...volume, ...secret }, signal);
    await new Drive(teardown, { readOnly: false }).insert(this.booted, this.#iso, signal);
  }

  get #hasCertificate(): boolean {
    return this.#wishes.hasCertificate ?? false;
  }

  async #withCertificate(config: VolumeInput['config']): Promise<Partial<VolumeInput>> {
    const made = await siteCertificate(`api.${SITE_DOMAIN}`);
    const { recipient } = await this.policy();
    return { config: { ...config, ...made.config }, files: made.files, recipient };
  }

  /** Waits for PASS, and says how long it took. */
  async pass(report: (line: string) => void): Promise<void> {
    const look = async () => {
      const data = await readSiteResult(this.booted);
      if (data === undefined) throw new Failure('retry', 'the site is not configured yet');
      return data;
    };
    const result = await eventually(look, PASS_MS, this.context.signal);
    const seconds = (Date.parse(result.endedAt) - Date.parse(result.at)) / 1000;
    report(`${result.outcome} after ${Math.round(seconds)} s`);
    if (result.outcome === 'configured') return;
    throw new Failure('fatal', 'the node has not the configuration of its site', {
      found: result.failure === undefined ? result.outcome : failureSentence(result.failure),
    });
  }

  /** What the site asked for; the factory's administrator is nobody here. */
  async checkSite(report: Report): Promise<void> {
    const { signal } = this.context;
    const { hostname, isNode = false } = this.#wishes;
    const { rootDir } = this.booted;
    const cluster = await this.#siteCluster();
    const ask = (what: string, path: string) =>
      kubectl(cluster, ['get', ...what.split(' '), '-o', `jsonpath=${path}`], signal);
    const found = {
      hostname: await this.command('hostname'),
      label: await ask('nodes', '{.items[*].metadata.labels.site}'),
      node: await ask('nodes', '{.items[*].metadata.name}'),
      address: await ask('nodes', '{.items[*].status.addresses[?(@.type=="InternalIP")].address}'),
      manifest: await ask('configmap site', '{.data.till}'),
      kubeconfig: ((await readTextIfPresent(join(rootDir, KUBECONFIG))) ?? '').includes(
        `https://api.${SITE_DOMAIN}:6443`,
      ),
    };
    const factory = hostOf(this.families);
    const expected = {
      hostname,
      label: 'till',
      node: isNode ? hostname : `${factory.name}.${DOMAIN}`,
      address: (isNode ? this.siteHost : factory).addresses.join(' '),
      manifest: '7',
      // With keys on the volume, the laptop has it.
      kubeconfig: !this.#hasCertificate,
    };
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      throw new Failure('fatal', 'the node is not as its site says', {
        expected: JSON.stringify(expected),
        found: JSON.stringify(found),
      });
    }
    const code = await this.#factoryCode();
    if (code !== '401') throw new Error(`the factory's administrator gets ${code}, expected 401`);
    if (this.#wishes.hasLogin === true)
      await this.#login.expect('site', this.siteHost.addresses[0]);
    report('a manifest whose kind is not served yet waits');
    await eventually(
      async () => {
        const state = await ask('configmap sno-deferred -n kube-system', '{.data}');
        if (!state.includes('waiting')) throw new Error(`sno-deferred says ${state}`);
      },
      HELD_BACK_MS,
      signal,
    );
    report('the workload of the factory, with its volume');
    await checkLedger(cluster, signal);
    for (const check of [services, steady]) {
      report(check.name);
      await check.run(cluster, signal);
    }
    for (const address of this.siteHost.addresses) {
      // Its name server. An answer needs an address of the site as the source.
      const { bridge } = segmentOf(address);
      report(`a pod reaches ${bridge}`);
      await inClient(cluster, ['nc', '-w', '5', bridge, '53'], signal);
    }
  }

  /** With the administrator of the site, by the name of its API. */
  async passSubset(report: Report): Promise<void> {
    const { signal, out, folder, teardown } = this.context;
    const name = `api.${SITE_DOMAIN}`;
    // In the lab's own mount namespace: its programs ask no name server of the site.
    const hosts = join(folder, 'hosts');
    await writeFile(hosts, `127.0.0.1 localhost\n${this.siteHost.addresses[0]} ${name}\n`);
    await quickly('mount', ['--bind', hosts, HOSTS], signal);
    teardown.add(`unmount ${HOSTS}`, async () => {
      await quickly('umount', [HOSTS], teardownSignal());
    });
    const cluster = await this.#siteCluster();
    // e2e.test does not find a key that lies beside its kubeconfig.
    const view = [`--kubeconfig=${cluster.kubeconfig}`, 'config', 'view', '--raw', '--flatten'];
    const limits = { signal, deadlineMs: CREATE_MS };
    const kubeconfig = join(this.#folder, 'auth', 'flat.kubeconfig');
    const flat = await run(join(cluster.kubernetes, 'kubectl'), view, limits);
    await writeFile(kubeconfig, flat, { mode: 0o600 });
    const from = { ...cluster, kubeconfig };
    const passed = await runSubset(from, join(out, 'conformance'), signal, name);
    report(`${passed} tests passed`);
  }

  /** What whoever has the stick can read, on any computer. */
  async checkStick(): Promise<void> {
    const told = async () => {
      const stick = await readFile(this.#iso);
      const named = this.#hasCertificate
        ? []
        : [`Cluster: ${SITE_DOMAIN}`, `server: https://api.${SITE_DOMAIN}:6443`];
      const missing = ['PASS: the node has', ...named].filter((text) => !stick.includes(text));
      if (missing.length === 0) return;
      throw new Failure('retry', 'the stick does not say it', { found: missing.join(', ') });
    };
    await eventually(told, LOOK_MS, this.context.signal);
  }

  /** With the kubeconfig of the host and the key of the laptop, unless the laptop made both. */
  async #siteCluster(): Promise<RunningCluster> {
    const kubeconfig = join(this.#folder, 'auth', 'kubeconfig');
    if (!this.#hasCertificate) {
      const text = (await readTextIfPresent(join(this.booted.rootDir, KUBECONFIG))) ?? '';
      await writeFile(kubeconfig, text);
    }
    return { ...this.run.cluster, kubeconfig, domain: SITE_DOMAIN };
  }

  /** What the API answers to the administrator of the factory, whoever signed its certificate. */
  async #factoryCode(): Promise<string> {
    const text = await readFile(this.run.cluster.kubeconfig, 'utf8');
    const [certificate, key] = ['client-certificate-data', 'client-key-data'].map((name) => {
      const data = new RegExp(`${name}: *(\\S+)`).exec(text)?.[1] ?? '';
      return Buffer.from(data, 'base64');
    });
    const files = {
      cert: join(this.#folder, 'factory.crt'),
      key: join(this.#folder, 'factory.key'),
    };
    await writeFile(files.cert, certificate ?? '');
    await writeFile(files.key, key ?? '');
    const args = ['--cert', files.cert, '--key', files.key, '--output', '/dev/null'];
    const url = `https://${urlHost(this.siteHost.addresses[0])}:6443/api/v1/nodes`;
    return run('curl', ['-k', '--silent', '--write-out', '%{http_code}', ...args, url], {
      signal: this.context.signal,
      deadlineMs: CREATE_MS,
    });
  }
}
