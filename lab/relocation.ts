import { join } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import type { Family } from '../lib/base/network/address.ts';
import { readTextIfPresent } from '../lib/host/files.ts';
import { BRIDGE as INTERNAL_BRIDGE } from '../lib/host/internal-bridge.ts';
import { hostPaths } from '../lib/host/paths.ts';
import { verifySignature } from '../lib/pki/signature/ssh-signature.ts';
import { readFactoryPolicy } from '../lib/relocation/relocatable/policy.ts';
import {
  factoryReportSchema,
  REPORT_NAMESPACE,
  reportPaths,
} from '../lib/relocation/relocatable/report.ts';
import { PROBES } from '../lib/relocation/relocatable/validation/probes.ts';
import { AllInOne } from './all-in-one.ts';
import { eventually } from './eventually.ts';
import type { Host } from './host/host.ts';
import { type HostIdentity, SITE, startNetwork } from './host/network.ts';
import { onHost } from './host/on-host.ts';
import type { Installation } from './installation.ts';
import { restartByHand } from './restart.ts';
import type { LabContext } from './scenario.ts';
import { type Families, hostOf } from './site.ts';

const COMMAND_MS = 5 * 60_000;
const LOOK_MS = 60_000;

/** The name of the cluster at its site. */
export const SITE_DOMAIN = 'edge.site.test';
const SITE_ADDRESSES: Readonly<Record<Family, string>> = {
  IPv4: '10.77.0.10',
  IPv6: 'fd00:77::10',
};

/** The same machine, as the site's DHCP and DNS know it. */
export function siteHostOf([primary, ...others]: Families): HostIdentity {
  const addresses = others.map((family) => SITE_ADDRESSES[family]);
  return {
    ...hostOf(['IPv4']),
    name: 'edge',
    addresses: [SITE_ADDRESSES[primary], ...addresses],
    bridge: SITE.bridge,
  };
}
export const siteHost = siteHostOf(['IPv4']);

/** The site is of the same families. */
export const relocatableHost = (context: LabContext, families: Families = ['IPv4']): AllInOne =>
  new AllInOne(context, { families, hostInputs: { relocatable: true } });

/** A node that is installed in one network, and set up in another one. */
export class Relocation {
  /** Its installation, with `relocatable: true`. */
  readonly run: Installation;
  /** As the site's DHCP and DNS know it. */
  readonly siteHost: HostIdentity;
  /** Of both networks. */
  readonly families: Families;

  constructor(run: Installation, families: Families = ['IPv4']) {
    this.run = run;
    this.families = families;
    this.siteHost = siteHostOf(families);
  }

  protected get context(): LabContext {
    return this.run.context;
  }

  /** Whom the site's name server knows besides. */
  protected get otherHosts(): readonly HostIdentity[] {
    return [];
  }

  /** What the site's DHCP tells the node: where it asks for its volume. */
  protected get siteUrl(): string | undefined {
    return undefined;
  }

  protected get booted(): Host {
    return this.run.booted;
  }

  /** The installation has done it; taken back, and done by hand. */
  async prepare(): Promise<void> {
    const paths = hostPaths(this.booted.rootDir);
    const { recipient } = await this.policy();
    await this.command('reconfigure', 'prepare', '--undo');
    if ((await readFactoryPolicy(paths)) !== undefined)
      throw new Error('the policy is still there');
    await this.command('ip', '-json', 'link', 'show', INTERNAL_BRIDGE).then(
      () => Promise.reject(new Error(`${INTERNAL_BRIDGE} is still there`)),
      () => undefined,
    );
    await this.command('reconfigure', 'prepare', '--shipping-days', '45');
    const again = await this.policy();
    if (again.recipient === recipient || again.shippingDays !== 45) {
      throw new Failure('fatal', 'the policy is not a new one', { found: JSON.stringify(again) });
    }
  }

  /** As an update of it does: the bridge is made anew. */
  async restartNetworkManager(): Promise<void> {
    await this.command('systemctl', 'restart', 'NetworkManager.service');
    const look = async () => {
      const found = await this.command('ip', '-brief', 'address', 'show', INTERNAL_BRIDGE);
      const { addresses } = this.run.site.host;
      if (addresses.every((each) => found.includes(` ${each}/`))) return;
      throw new Failure('retry', 'the internal addresses are gone', { found });
    };
    await eventually(look, LOOK_MS, this.context.signal);
  }

  /** With a workload that has data, and takes its time to end. */
  async validate(): Promise<void> {
    const { signal } = this.context;
    const { rootDir } = this.booted;
    await this.command('reconfigure', 'validate');
    const paths = reportPaths(hostPaths(rootDir));
    const text = (await readTextIfPresent(paths.json)) ?? '';
    const report = factoryReportSchema.parse(JSON.parse(text));
    const key = (await readTextIfPresent(paths.key)) ?? '';
    await verifySignature(
      { text, signature: (await readTextIfPresent(paths.signature)) ?? '' },
      `factory namespaces="${REPORT_NAMESPACE}" ${key}`,
      {
        namespace: REPORT_NAMESPACE,
        signer: 'factory',
        subject: 'report',
        keys: 'the host',
        fixes: { sign: '', allow: '' },
        code: 'refused',
      },
      join(this.context.folder, 'report-signature'),
      signal,
    );
    // The lab's payload has all that they need.
    const notes = report.checks.find(({ name }) => name === 'conformance')?.notes ?? [];
    const missing = Object.keys(PROBES).filter(
      (name) => !notes.some((note) => note.startsWith(`${name}: passed`)),
    );
    if (!report.passed || report.shelfLife === undefined || missing.length > 0) {
      throw new Failure('fatal', 'the report does not say PASS', {
        found: `${text}; without ${missing.join(', ') || 'nothing'}`,
      });
    }
  }

  /** Shut down in an orderly way; the next boot is at the site. */
  async ship(): Promise<void> {
    const { signal, folder, teardown } = this.context;
    await restartByHand(this.run.cluster, signal);
    await this.booted.stop();
    const { otherHosts, siteUrl, siteHost: host } = this;
    const served = { otherHosts, ...(siteUrl && { siteUrl }) };
    const network = { domain: SITE_DOMAIN, host, ...served, place: SITE };
    await startNetwork(network, folder, teardown, signal);
    this.run.plugInto(host);
  }

  /** Sealed: no kubelet, hence no API, whatever the network says. */
  async checkSealed(): Promise<void> {
    const { signal } = this.context;
    await this.run.bootInstalled('at-site');
    const show = ['show', 'kubelet.service', '--property=ConditionResult', '--value'];
    const found = await this.command('systemctl', ...show);
    const isActive = (
      await this.command('systemctl', 'show', 'kubelet.service', '-pActiveState')
    ).trim();
    if (found !== 'no' || isActive !== 'ActiveState=inactive') {
      throw new Failure('fatal', 'the kubelet of a sealed node has started', {
        found: `${found}, ${isActive}`,
      });
    }
    const addressed = async () => {
      const addresses = await this.command('ip', '-brief', 'address');
      if (this.siteHost.addresses.every((each) => addresses.includes(` ${each}/`))) return;
      throw new Failure('retry', 'the host has no address of the site', { found: addresses });
    };
    await eventually(addressed, LOOK_MS, signal);
  }

  protected command(...argv: string[]): Promise<string> {
    return onHost(this.booted, argv, this.context.signal, COMMAND_MS);
  }

  protected async policy() {
    const policy = await readFactoryPolicy(hostPaths(this.booted.rootDir));
    if (policy === undefined) throw new Error('the node has no policy of a factory');
    return policy;
  }
}
