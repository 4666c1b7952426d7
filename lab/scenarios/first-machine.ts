import { link, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { exchangedAdministrator } from '../checks/administrator.ts';
import { bareSystem } from '../checks/bare-system.ts';
import { bootPartition } from '../checks/boot-partition.ts';
import { deferredApplied } from '../checks/deferred-applied.ts';
import { objectsKept } from '../checks/objects-kept.ts';
import { ownInputs } from '../checks/own-inputs.ts';
import { siteOnHost } from '../checks/site-inputs.ts';
import { ensureComponent } from '../components/component.ts';
import { LIVE_ISO } from '../components/live-iso.ts';
import { KUBERNETES_VERSION } from '../components/versions.ts';
import { type Laptop, openLaptop } from '../first-machine/laptop.ts';
import { mirrorUpstream } from '../first-machine/upstream.ts';
import { quickly } from '../host/command.ts';
import { SEGMENTS } from '../host/network.ts';
import { createdIn } from '../install-config.ts';
import { Installation, type Report, scenarioOf } from '../installation.ts';
import { mountIso } from '../medium.ts';
import { patient, slowHostSettings } from '../patience.ts';
import { routedPayload } from '../payload.ts';
import type { Scenario } from '../scenario.ts';
import { CLUSTER, DISK, DOMAIN, openSite } from '../site.ts';
import { sshPublicKey } from '../site-inputs.ts';

const CREATE_MS = 10 * 60_000;
const WAIT_MS = 60 * 60_000;
const LOOK_MS = 60_000;

/** Of what the lab's other installations configure, and a first machine does not. */
const NOT_CONFIGURED = [
  objectsKept,
  ownInputs,
  siteOnHost,
  deferredApplied,
  exchangedAdministrator,
];

/**
 * docs/first-machine.md, as somebody reads it who has a release, the exported images and nothing else: its commands are
 * read from the document in the release and run in an empty folder.
 */
class FirstMachine extends Installation {
  #laptop: Laptop | undefined;

  get laptop(): Laptop {
    if (this.#laptop === undefined) throw new Error('a step ran before the release was unpacked');
    return this.#laptop;
  }

  override async create(): Promise<void> {
    const { components, folder, teardown, signal } = this.context;
    const site = await openSite(folder, {}, teardown, signal);
    const programs = [components.coreosInstaller, components.kubernetes];
    this.#laptop = await openLaptop(join(folder, 'laptop'), programs, signal);
    const at = (name: string) => join(this.laptop.folder, name);
    await mkdir(at('images'));
    await link(join(components.liveIso, LIVE_ISO), at(`images/${LIVE_ISO}`));
    await this.#createPayload();
    await writeFile(at('id_ed25519.pub'), `${sshPublicKey()}\n`);
    const { network } = SEGMENTS.IPv4;
    await this.laptop.type('sno create install-config', {
      answers: [CLUSTER.name, CLUSTER.baseDomain, DISK, '', network, 'id_ed25519.pub', ''],
      deadlineMs: LOOK_MS,
    });
    const settings = Object.entries(slowHostSettings());
    await this.laptop.type('sno create single-node-iso', {
      more: settings.flatMap(([name, value]) => ['--set', `${name}=${value}`]),
      deadlineMs: CREATE_MS,
    });
    const iso = at('D/single-node.iso');
    const medium = join(folder, 'medium');
    await mountIso(iso, medium, this.context);
    this.prepared(site, createdIn(at('D')), { iso, folder: medium });
  }

  async #createPayload(): Promise<void> {
    const { folder, teardown, signal } = this.context;
    const payload = await ensureComponent(routedPayload, { signal, report: () => undefined });
    const from = { payload, kubernetes: `v${KUBERNETES_VERSION}` };
    const mirror = await mirrorUpstream(join(folder, 'mirror'), from, teardown, signal);
    await this.laptop.type('sno create payload', { ...mirror, deadlineMs: CREATE_MS });
  }

  /** As the document says where there is no DNS record: a line of /etc/hosts. The lab has a mount namespace of its own. */
  async waitForInstall(): Promise<void> {
    const { folder, signal } = this.context;
    const hosts = join(folder, 'hosts');
    const [address] = this.site.host.addresses;
    await writeFile(hosts, `127.0.0.1 localhost\n${address} api.${DOMAIN}\n`);
    await quickly('mount', ['--bind', hosts, '/etc/hosts'], signal);
    await this.laptop.type('sno wait-for install-complete', { deadlineMs: patient(WAIT_MS) });
  }

  async useIt(report: Report): Promise<void> {
    const found = await this.laptop.type('kubectl get', {
      env: { KUBECONFIG: 'D/auth/kubeconfig' },
      deadlineMs: patient(LOOK_MS),
    });
    report(found.split('\n').at(-1) ?? '');
    if (/^sno\S* +Ready /m.test(found)) return;
    throw new Failure('fatal', 'the node is not Ready', { found });
  }
}

export const firstMachine: Scenario = (context) => {
  const machine = new FirstMachine(context);
  const without = NOT_CONFIGURED.map(({ name }) => name);
  let installed: Promise<void> | undefined;
  return scenarioOf(machine, [
    {
      title: 'Unpack the release, create payload, install-config and ISO',
      run: () => machine.create(),
    },
    {
      title: 'Boot the ISO',
      run: async () => {
        await machine.bootLive();
        installed = machine.waitForInstall();
        // Awaited below.
        installed.catch(() => undefined);
      },
    },
    { title: 'Bootstrap and write the disk', run: (report) => machine.bootstrap(report) },
    {
      title: 'Look at the disk before its first boot',
      run: (report) => machine.checkDisk(report, [bootPartition, bareSystem]),
    },
    { title: 'Boot from the disk', run: async () => void (await machine.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => machine.finish(report) },
    { title: 'sno wait-for install-complete', run: async () => installed },
    { title: 'kubectl get nodes', run: (report) => machine.useIt(report) },
    { title: 'Check the cluster', run: (report) => machine.checkCluster(report, without) },
  ]);
};
