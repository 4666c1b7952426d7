import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { identitySchema } from '../lib/change/identity/identity.ts';
import type { OnAddressChange } from '../lib/config/cluster/cluster.ts';
import { AllInOne } from './all-in-one.ts';
import { certificateNames } from './checks/certificate-names.ts';
import { kubectl } from './checks/kubectl.ts';
import { nodeAddresses } from './checks/node-addresses.ts';
import { nodeReady } from './checks/node-ready.ts';
import { expectSame } from './checks/renamed.ts';
import { eventually } from './eventually.ts';
import { onHost } from './host/on-host.ts';
import type { Report } from './installation.ts';
import type { LabContext } from './scenario.ts';

const MOVED = '192.168.126.20';
/** Half of the lease, and the wait for an address that stays. */
const NOTICED_MS = 2 * 60_000;
const FOLLOWED_MS = 6 * 60_000;
const STATE = 'var/lib/sno-agents';
const PROMPT = ['cat', '/run/sno-agents/console.issue'];
const JOURNAL = ['journalctl', '-t', 'sno-address', '-o', 'cat', '--no-pager'];

/** An all-in-one host that gets another address from the DHCP server. */
export class Moving extends AllInOne {
  constructor(context: LabContext, onAddressChange?: OnAddressChange) {
    super(context, { leaseTime: '2m', hostInputs: { onAddressChange } });
  }

  /** By default it changes nothing, and everything that people and programs read has both addresses. */
  async stops(report: Report): Promise<void> {
    const { signal } = this.context;
    const { identity } = this.booted;
    const old = identity.addresses[0];
    await this.site.network.moveHost([MOVED]);
    report(`the lease of ${old} ends`);
    await eventually(() => this.#expectSaid('the prompt', PROMPT, old), NOTICED_MS, signal);
    // From now on it is reached there.
    this.host = { ...this.booted, identity: { ...identity, addresses: [MOVED] } };
    await this.#expectSaid('the status', ['sno-address', 'status'], old);
    await this.#expectSaid('the journal', JOURNAL, old);
    const { rootDir } = this.booted;
    const metrics = await readFile(join(rootDir, STATE, 'metrics/sno-address.prom'), 'utf8');
    const wanted = `sno_address_moved{registered="${old}",found="${MOVED}"} 1`;
    expectSame('the metric', wanted, metrics.trim().split('\n').at(-1) ?? '');
    const environment = await readFile(join(rootDir, 'etc/sno-agents/kubelet.env'), 'utf8');
    expectSame('the address of the kubelet', `KUBELET_NODE_IPS=${old}`, environment.trim());
    expectSame('the address of the Node', old, await this.#nodeAddress());
  }

  /** The whole transaction, begun by the host itself. */
  async follows(report: Report): Promise<void> {
    const { signal } = this.context;
    await onHost(this.booted, ['sno-address', 'set', 'follow'], signal);
    await this.#expectFollowed(report);
  }

  /** It is off while its lease moves; of the old address nobody knows any more. */
  async restartsElsewhere(report: Report): Promise<void> {
    await this.booted.stop();
    await this.site.network.moveHost([MOVED]);
    const host = { ...this.site.host, addresses: [MOVED] as const };
    this.prepared({ ...this.site, host }, this.created);
    await this.bootInstalled('moved');
    await this.#expectFollowed(report);
  }

  async #expectFollowed(report: Report): Promise<void> {
    const { signal } = this.context;
    const last = join(this.booted.rootDir, STATE, 'sno-identity/last.json');
    await eventually(
      async () => {
        const text = await readFile(last, 'utf8');
        const { to } = z.object({ to: identitySchema }).parse(JSON.parse(text));
        expectSame('the address', MOVED, to.nodeIps.join());
      },
      FOLLOWED_MS,
      signal,
    );
    await this.runChecks([certificateNames, nodeAddresses, nodeReady], report, {});
    const endpoints = ['get', 'endpointslices', 'kubernetes', '-o'];
    const path = 'jsonpath={.endpoints[*].addresses[*]}';
    expectSame('the API', MOVED, await kubectl(this.cluster, [...endpoints, path], signal));
    await eventually(
      async () => {
        const prompt = await onHost(this.booted, PROMPT, signal);
        expectSame('the prompt', 'PASS', prompt.slice(0, 4));
      },
      NOTICED_MS,
      signal,
    );
  }

  async #expectSaid(what: string, command: readonly string[], old: string): Promise<void> {
    const text = await onHost(this.booted, command, this.context.signal);
    expectSame(
      what,
      `${old}, ${MOVED}`,
      [old, MOVED].filter((each) => text.includes(each)).join(', '),
    );
  }

  #nodeAddress(): Promise<string> {
    const path = 'jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}';
    return kubectl(this.cluster, ['get', 'nodes', '-o', path], this.context.signal);
  }
}
