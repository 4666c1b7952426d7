import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyFile } from '../../lib/host/copy.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { AllInOne, type AllInOneOptions } from '../all-in-one.ts';
import { kubectl } from '../checks/kubectl.ts';
import { eventually } from '../eventually.ts';
import { quickly } from '../host/command.ts';
import { portOf } from '../host/network.ts';
import { onHost } from '../host/on-host.ts';
import type { Installation } from '../installation.ts';
import { copyDisk } from '../relocate/factory.ts';
import type { LabContext } from '../scenario.ts';
import { DOMAIN, hostOf } from '../site.ts';
import { writeWorkerImage } from './worker-image.ts';

const HOST = hostOf(['IPv4']);
const READY_MS = 4 * 60_000;
const IMPORT_MS = 5 * 60_000;
const never = () => Promise.reject(new Error('this network stays as it is'));

/** Of a copy of a node: nobody changes it by that. */
export const NETWORK_AS_IT_IS = {
  forgetLeases: never,
  moveHost: never,
  setMissingRecords: never,
} as const;

/** A hub: an all-in-one host with a real kubelet and controllers, in another network than the sites. */
export class Hub extends AllInOne {
  readonly #folder: string;

  constructor(context: LabContext, options: AllInOneOptions = {}) {
    const folder = join(context.folder, 'hub');
    super({ ...context, folder }, options);
    this.#folder = folder;
  }

  /** Of a node that is switched off and moved later: it saves a second installation. */
  async copyOf(run: Installation): Promise<void> {
    await mkdir(this.#folder, { mode: 0o700 });
    const file = join(this.#folder, 'disk.raw');
    await copyDisk(run.site.disk.file, file, this.context.signal);
    const disk = { ...run.site.disk, file };
    const site = { folder: this.#folder, network: NETWORK_AS_IT_IS, host: HOST, disk };
    this.prepared(site, run.created);
  }

  /** One of its own. */
  override async create(): Promise<void> {
    await mkdir(this.#folder, { mode: 0o700 });
    await super.create();
  }

  /** Without the port. */
  get server(): string {
    return `https://${HOST.addresses[0]}`;
  }

  get kubeconfig(): string {
    return join(this.#folder, 'kubeconfig');
  }

  /** A copy of a sealed node: it does not wait for a site. */
  async switchOnSealed(): Promise<void> {
    await this.bootInstalled('hub');
    await onHost(this.booted, ['reconfigure', 'validate', '--unseal'], this.context.signal);
    await this.open();
  }

  /** Once its cluster runs: from the sites it is reached, and the image of the worker is in its store. */
  async open(): Promise<void> {
    const { signal } = this.context;
    const text = await readFile(this.created.kubeconfig, 'utf8');
    // By address: the lab asks no name server of the hub's network.
    const byAddress = text.replace(`https://api.${DOMAIN}:`, `${this.server}:`);
    await writeFileAtomic(this.kubeconfig, byAddress, 0o600);
    // The lab's machine is the router between the networks.
    await quickly('sysctl', ['-q', '-w', 'net.ipv4.ip_forward=1'], signal);
    await this.ready();
    const archive = await writeWorkerImage(join(this.#folder, 'image'), this.context);
    const inside = '/var/tmp/worker-image.tar';
    await copyFile(archive, join(this.booted.rootDir, inside), 0o644, signal);
    const load = ['ctr', '--namespace', 'k8s.io', 'images', 'import', '--local', inside];
    await onHost(this.booted, load, signal, IMPORT_MS);
  }

  async ready(): Promise<void> {
    const { signal } = this.context;
    const look = () =>
      this.kubectl('wait', 'node', '--all', '--for=condition=Ready', '--timeout=20s');
    await eventually(look, READY_MS, signal);
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return kubectl(this.cluster, args, this.context.signal);
  }

  /** Nobody reaches it. */
  async unplug(): Promise<void> {
    await this.#cable('down');
  }

  async plugIn(): Promise<void> {
    await this.#cable('up');
    await this.ready();
  }

  async #cable(state: 'up' | 'down'): Promise<void> {
    await quickly('ip', ['link', 'set', portOf(HOST), state], this.context.signal);
  }
}
