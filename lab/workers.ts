import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../lib/base/errors/failure.ts';
import { controlPlaneNode } from '../lib/config/topology/kubernetes.ts';
import { rowFor } from '../lib/config/topology/row-for.ts';
import type { TopologyRow } from '../lib/config/topology/rows.ts';
import { run } from '../lib/host/command.ts';
import { exists } from '../lib/host/files.ts';
import { AllInOne } from './all-in-one.ts';
import type { RunningCluster } from './checks/check.ts';
import { deleteIngressPod, deployIngress, ingressRunsOn } from './checks/ingress-placement.ts';
import { kubectl } from './checks/kubectl.ts';
import { expectFlannelOn, podsReachEachOther } from './checks/pod-routes.ts';
import { workerChecks } from './checks/worker.ts';
import type { Component } from './components/component.ts';
import { OS_IMAGE } from './components/os-image.ts';
import { eventually } from './eventually.ts';
import type { Disk } from './host/disk.ts';
import type { Host, HostOptions } from './host/host.ts';
import type { HostIdentity } from './host/network.ts';
import { waitUntilInactive } from './host/unit-state.ts';
import { waitForStep } from './host/wait-for-step.ts';
import type { Report } from './installation.ts';
import { cli } from './paths.ts';
import { routedPayload } from './payload.ts';
import { rebootByHand } from './restart.ts';
import type { LabContext } from './scenario.ts';
import { DOMAIN, emptyDisk } from './site.ts';
import { workerFollowsCa } from './worker-follows-ca.ts';
import { writeImage } from './write-image.ts';

const CREATE_MS = 60_000;
const BOOT_MS = 60_000;
const JOIN_MS = 8 * 60_000;
const PENDING_MS = 3 * 60_000;
const READY_MS = 3 * 60_000;
const LIST = 'etc/sno-agents/workers.d';

const WORKER: HostIdentity = {
  name: 'worker-0',
  mac: '52:54:00:00:00:0b',
  addresses: ['192.168.126.11'],
};
const STRANGER: HostIdentity = {
  name: 'stranger',
  mac: '52:54:00:00:00:0c',
  addresses: ['192.168.126.12'],
};

/** An all-in-one host, a worker that its list allows, and a host that it does not. */
export class Workers extends AllInOne {
  #worker: Host | undefined;
  #options: ((label: string) => HostOptions & { readonly disk: Disk }) | undefined;
  #fingerprint = '';

  readonly #row: TopologyRow;

  /** `dayOne`: the worker belongs to the installation, and the control-plane node has a taint. */
  constructor(
    context: LabContext,
    { dayOne, payload = routedPayload }: { readonly dayOne: boolean; readonly payload?: Component },
  ) {
    const workers = dayOne ? 1 : 0;
    const otherHosts = [WORKER, STRANGER];
    super(context, { dns: true, otherHosts, payload, workers });
    this.#row = rowFor({ platform: 'none', compute: workers, laterWorkers: 1 });
  }

  /** A host alone needs no routes. */
  async checkAlone(): Promise<void> {
    await expectFlannelOn(this.cluster, 0, this.context.signal);
  }

  /** As an administrator does on the laptop. */
  async createWorkers(): Promise<void> {
    const { signal, folder } = this.context;
    const [address] = this.site.host.addresses;
    const text = await readFile(this.created.kubeconfig, 'utf8');
    // The lab does not use the site's DNS.
    const byAddress = join(folder, 'by-address.kubeconfig');
    await writeFile(byAddress, text.replace(`https://api.${DOMAIN}:`, `https://${address}:`), {
      mode: 0o600,
    });
    const create = ['create', 'worker-ignition', '--dir', join(folder, 'installation')];
    const options = ['--kubeconfig', byAddress, ...this.served.options];
    await run(cli, [...create, ...options], { signal, deadlineMs: CREATE_MS });
  }

  /** It waits for its approval, also after its agent was killed, and with the same key. */
  async bootWorker(report: Report): Promise<void> {
    const { signal } = this.context;
    const host = await this.#boot(WORKER, report);
    this.#worker = host;
    await waitForStep(host, 'worker', ['kubelet-identity', 'started'], signal);
    const before = await this.#fingerprintOf(host);
    report('kill -9');
    const kill = ['systemctl', 'kill', '--signal=KILL', '--kill-whom=main', 'sno-worker.service'];
    await host.exec(kill, { timeoutMs: 10_000 }, signal);
    await eventually(
      async () => {
        const all = await this.#fingerprints(host);
        if (all.length < 2) throw new Failure('retry', 'the agent has not started again');
      },
      PENDING_MS,
      signal,
    );
    const keys = new Set(await this.#fingerprints(host));
    if (keys.size !== 1) {
      throw new Failure('fatal', 'the key is another one after a kill', {
        expected: before,
        found: [...keys].join(', '),
      });
    }
    this.#fingerprint = before;
    const requests = await kubectl(this.cluster, ['get', 'csr', '-o', 'name'], signal);
    if (!requests.includes('sno-worker-worker-0')) {
      throw new Failure('fatal', 'there is no request of the worker', { found: requests });
    }
  }

  /** As an administrator does on the control-plane host. */
  async join(report: Report): Promise<void> {
    const { signal } = this.context;
    const host = this.worker;
    await this.#allow(WORKER, [`keyFingerprint: ${this.#fingerprint}`]);
    // Nobody comes for this one: the approver goes on.
    await this.#allow({ ...WORKER, name: 'late', addresses: ['192.168.126.99'] }, []);
    const steps = setInterval(() => void this.#step(host).then(report), 1000);
    try {
      const earlier = ['sno-executable.service', 'sno-payload.service'];
      await waitUntilInactive(host, 'sno-worker.service', earlier, JOIN_MS, signal);
    } finally {
      clearInterval(steps);
    }
    if (!(await exists(join(host.rootDir, 'var/lib/sno-agents/record.json')))) {
      throw new Failure('fatal', 'the worker left no record');
    }
  }

  async checkWorker(report: Report): Promise<void> {
    const cluster: RunningCluster = this.cluster;
    for (const check of workerChecks(this.worker)) {
      report(check.name);
      await check.run(cluster, this.context.signal);
    }
  }

  async rotateCa(report: Report): Promise<void> {
    await workerFollowsCa(this.cluster, this.worker, report, this.context.signal);
  }

  /** The control-plane node has the taint of its row, or none. */
  async checkTaint(): Promise<void> {
    const { signal } = this.context;
    const node = `${this.booted.identity.name}.${DOMAIN}`;
    const path = 'jsonpath={range .spec.taints[*]}{.key}:{.effect} {end}';
    const found = await kubectl(this.cluster, ['get', 'node', node, '-o', path], signal);
    const { taints } = controlPlaneNode(this.#row);
    const expected = taints.map(({ key, effect }) => `${key}:${effect}`).join(' ');
    if (found.trim() === expected) return;
    throw new Failure('fatal', 'the control-plane node has other taints', { expected, found });
  }

  /** Though the worker would take it. */
  async checkIngress(report: Report): Promise<void> {
    const { signal } = this.context;
    const node = `${this.booted.identity.name}.${DOMAIN}`;
    const { cluster } = this;
    report('placed');
    await deployIngress(cluster, this.#row, signal);
    const first = await ingressRunsOn(cluster, node, signal);
    report('deleted');
    await deleteIngressPod(cluster, first, signal);
    await ingressRunsOn(cluster, node, signal, first);
    report('restarting its host');
    await rebootByHand(cluster, signal);
    await this.booted.stop();
    await this.bootInstalled('restarted');
    await eventually(() => kubectl(this.cluster, ['get', 'nodes'], signal), READY_MS, signal);
    await ingressRunsOn(this.cluster, node, signal);
    report('pods reach each other again');
    await podsReachEachOther(this.cluster, signal);
  }

  /** Its request stays pending, and the journal of the control-plane host says why. */
  async refuseStranger(report: Report): Promise<void> {
    const { signal } = this.context;
    const stranger = await this.#boot(STRANGER, report);
    const name = `stranger.${DOMAIN}`;
    const says = new RegExp(`Did not approve request sno-worker-${name}\\S* .*rule=worker`);
    await eventually(
      async () => {
        const journal = ['journalctl', '-u', 'sno-approve', '--no-pager', '-o', 'cat'];
        const { stdout } = await this.booted.exec(journal, { timeoutMs: 10_000 }, signal);
        if (!says.test(stdout)) {
          throw new Failure('retry', 'sno-approve does not report the request', {
            found: stdout.slice(-1000),
          });
        }
      },
      PENDING_MS,
      signal,
    );
    const nodes = await kubectl(this.cluster, ['get', 'nodes', '-o', 'name'], signal);
    if (nodes.includes('stranger')) {
      throw new Failure('fatal', 'a host that is not allowed has joined', { found: nodes });
    }
    await stranger.stop();
  }

  get worker(): Host {
    if (this.#worker === undefined) throw new Error('a step ran before one that it depends on');
    return this.#worker;
  }

  async #allow({ name, addresses }: HostIdentity, more: readonly string[]): Promise<void> {
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const lines = [`name: ${name}.${DOMAIN}`, `addresses: [${addresses}]`, `expires: ${expires}`];
    const path = join(this.booted.rootDir, LIST, `${name}.yaml`);
    await writeFile(path, `${[...lines, ...more].join('\n')}\n`, { mode: 0o600 });
  }

  /** Writes the image to the disk of one more host, and boots it. */
  async #boot(identity: HostIdentity, report: Report): Promise<Host> {
    const { folder, out, teardown, signal } = this.context;
    const own = join(folder, identity.name);
    await mkdir(own);
    const disk = await emptyDisk(own);
    const options = (label: string) => ({
      ...{ identity, folder: own, logs: out, label, disk },
    });
    this.#options = options;
    const image = {
      osImage: join(this.context.components.osImage, OS_IMAGE),
      ignition: join(folder, 'installation/worker.ign'),
    };
    report('writing its disk');
    await writeImage(options(`${identity.name}-live`), image, this.context, async (host) => {
      teardown.add(`stop ${identity.name}`, () => host.stop());
      await host.waitForBoot(BOOT_MS, signal).catch(ifLate);
      return host;
    });
    report('booting');
    const host = await this.context.hosts.bootDisk({ ...options(identity.name), disk }, signal);
    teardown.add(`stop ${identity.name}`, () => host.stop());
    return host;
  }

  /** Once its power was cut. */
  async rebootWorker(label: string): Promise<Host> {
    if (this.#options === undefined) throw new Error('no worker was booted before');
    const { hosts, teardown, signal } = this.context;
    const host = await hosts.bootDisk(this.#options(label), signal);
    teardown.add(`stop ${label}`, () => host.stop());
    this.#worker = host;
    return host;
  }

  async #fingerprintOf(host: Host): Promise<string> {
    return eventually(
      async () => {
        const [found] = await this.#fingerprints(host);
        if (found === undefined) throw new Failure('retry', 'the worker shows no fingerprint');
        return found;
      },
      PENDING_MS,
      this.context.signal,
    );
  }

  /** As the journal of the worker shows them, one for each attempt. */
  async #fingerprints(host: Host): Promise<string[]> {
    const journal = ['journalctl', '-u', 'sno-worker', '--no-pager', '-o', 'cat'];
    const { stdout } = await host.exec(journal, { timeoutMs: 10_000 }, this.context.signal);
    return Array.from(
      stdout.matchAll(/has the fingerprint (sha256:[0-9a-f]{64})/g),
      ([, found = '']) => found,
    );
  }

  async #step(host: Host): Promise<string> {
    const status = await readFile(
      join(host.ownView, 'run/sno-agents/worker/status.json'),
      'utf8',
    ).catch(() => '{}');
    const [, step = ''] = /"step": *"([^"]+)"/.exec(status) ?? [];
    return step;
  }
}

function ifLate(error: unknown): void {
  if (!(error instanceof Failure) || error.kind !== 'deadline') throw error;
}
