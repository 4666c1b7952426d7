import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../lib/host/command.ts';
import { copyFile } from '../../lib/host/copy.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { AllInOne } from '../all-in-one.ts';
import { kubectl } from '../checks/kubectl.ts';
import { eventually } from '../eventually.ts';
import { quickly } from '../host/command.ts';
import { portOf } from '../host/network.ts';
import { onHost } from '../host/on-host.ts';
import type { Installation } from '../installation.ts';
import type { LabContext } from '../scenario.ts';
import { DOMAIN, hostOf } from '../site.ts';
import { writeWorkerImage } from './worker-image.ts';

const COPY_MS = 5 * 60_000;
const READY_MS = 4 * 60_000;
const IMPORT_MS = 5 * 60_000;
const never = () => Promise.reject(new Error('the network of the hub stays as it is'));

/**
 * A hub: an all-in-one host with a real kubelet and controllers, in another network than the sites. It is a copy of the
 * node that is moved later, which saves a second installation.
 */
export class Hub extends AllInOne {
  readonly #folder: string;

  constructor(context: LabContext) {
    const folder = join(context.folder, 'hub');
    super({ ...context, folder });
    this.#folder = folder;
  }

  /** Of a node that is switched off. */
  async copyOf(run: Installation): Promise<void> {
    const { signal } = this.context;
    await mkdir(this.#folder, { mode: 0o700 });
    const file = join(this.#folder, 'disk.raw');
    const copy = ['--sparse=always', '--reflink=auto', run.site.disk.file, file];
    await this.#command('cp', copy, COPY_MS);
    const kubeconfig = join(this.#folder, 'kubeconfig');
    const text = await readFile(run.created.kubeconfig, 'utf8');
    // By address: the lab asks no name server of the hub's network.
    await writeFileAtomic(
      kubeconfig,
      text.replace(`https://api.${DOMAIN}:`, `${this.server}:`),
      0o600,
    );
    const disk = { ...run.site.disk, file };
    const network = { forgetLeases: never, moveHost: never, setMissingRecords: never };
    const site = { folder: this.#folder, network, host: hostOf(['IPv4']), disk };
    this.prepared(site, { ...run.created, kubeconfig });
    // The lab's machine is the router between the networks.
    await quickly('sysctl', ['-q', '-w', 'net.ipv4.ip_forward=1'], signal);
  }

  /** Without the port. */
  get server(): string {
    return `https://${hostOf(['IPv4']).addresses[0]}`;
  }

  get kubeconfig(): string {
    return this.created.kubeconfig;
  }

  /** It does not wait for a site; the image of the worker is in its store. */
  async switchOn(): Promise<void> {
    const { signal } = this.context;
    await this.bootInstalled('hub');
    await onHost(this.booted, ['reconfigure', 'validate', '--unseal'], signal);
    await this.ready();
    const archive = await writeWorkerImage(join(this.#folder, 'image'), signal);
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
    await quickly('ip', ['link', 'set', portOf(hostOf(['IPv4'])), state], this.context.signal);
  }

  #command(program: string, args: readonly string[], deadlineMs: number): Promise<string> {
    return run(program, [...args], { signal: this.context.signal, deadlineMs });
  }
}
