import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { Failure } from '../lib/errors/failure.ts';
import { exists } from '../lib/host/files.ts';
import { AllInOne } from './all-in-one.ts';
import { kubectl } from './checks/kubectl.ts';
import { expectSame, expectWorkload, onHost, renamed, workload } from './checks/renamed.ts';
import { eventually } from './eventually.ts';
import type { HostIdentity } from './host/network.ts';
import type { Report } from './installation.ts';
import type { LabContext } from './scenario.ts';
import { emptyDisk } from './site.ts';
import { importHelloImage } from './test-workload.ts';

const SECOND: HostIdentity = {
  name: 'spare',
  mac: '52:54:00:00:00:0d',
  addresses: ['192.168.126.13'],
};
const RESTORE_MS = 15 * 60_000;
const READY_MS = 3 * 60_000;
const VOLUMES = 'var/lib/local-path-provisioner';
const KUBELET = 'var/lib/kubelet/pki/kubelet-client-current.pem';

/** An all-in-one host that gets another name and is then lost, and the host that continues its cluster. */
export class Recover extends AllInOne {
  #lostNode = '';

  constructor(context: LabContext) {
    super(context, { otherHosts: [SECOND] });
  }

  async renameHost(report: Report): Promise<void> {
    await this.runChecks([workload, renamed], report, {});
  }

  /** What its administrator has elsewhere. */
  get #kept(): string {
    return join(this.context.folder, 'kept');
  }

  /** An encrypted backup, the data of its volumes, and what a thief finds on its disk. */
  async backUp(): Promise<void> {
    const { signal } = this.context;
    const identity = await generateIdentity();
    const recipient = await identityToRecipient(identity);
    const to = '/var/tmp/host.age';
    const create = ['sno-backup', 'create', '--to', to, '--recipient', recipient];
    await onHost(this.cluster, create, signal);
    this.#lostNode = (await kubectl(this.cluster, ['get', 'nodes', '-o', 'name'], signal)).trim();
    const { rootDir } = this.booted;
    await mkdir(this.#kept, { recursive: true, mode: 0o700 });
    await cp(join(rootDir, to), join(this.#kept, 'host.age'));
    await writeFile(join(this.#kept, 'identity.txt'), `${identity}\n`, { mode: 0o600 });
    await cp(join(rootDir, VOLUMES), join(this.#kept, 'volumes'), { recursive: true });
    await writeFile(
      join(this.#kept, 'kubelet.pem'),
      await readFile(join(rootDir, KUBELET), 'utf8'),
      { mode: 0o600 },
    );
  }

  /** Its disk is lost; another host is installed with the same Ignition config. */
  async replaceHost(report: Report): Promise<void> {
    await this.booted.stop();
    await rm(join(this.context.folder, 'disk.raw'));
    const folder = join(this.context.folder, 'spare');
    await mkdir(folder);
    const disk = await emptyDisk(folder);
    this.prepared({ ...this.site, host: SECOND, disk }, this.created);
    await this.writeDisk('spare-live');
    await this.bootInstalled('spare');
    await this.finish(report, 'spare');
  }

  /** By name, address and keys it is another host; its workload is that of the lost one. */
  async restore(): Promise<void> {
    const { signal } = this.context;
    const { rootDir } = this.booted;
    for (const name of ['host.age', 'identity.txt']) {
      await cp(join(this.#kept, name), join(rootDir, 'var/tmp', name));
    }
    // In place of a data disk, which the lab's host does not have.
    await cp(join(this.#kept, 'volumes'), join(rootDir, VOLUMES), { recursive: true });
    // Nor does it have a registry.
    await importHelloImage(this.booted, join(this.context.folder, 'hello.tar'), signal);
    const files = ['--backup', '/var/tmp/host.age', '--identity', '/var/tmp/identity.txt'];
    const restore = ['sno-backup', 'restore', '--new-host', ...files, '--yes'];
    await onHost(this.cluster, restore, signal, RESTORE_MS);
    const nodes = await kubectl(this.cluster, ['get', 'nodes', '-o', 'name'], signal);
    const name = (await onHost(this.cluster, ['hostname'], signal)).trim();
    expectSame('Nodes', `node/${name}`, nodes.trim());
    if (nodes.trim() === this.#lostNode) {
      throw new Failure('fatal', 'the other host has the name of the lost one', { found: name });
    }
    await eventually(() => expectWorkload(this.cluster, signal), READY_MS, signal);
  }

  async refuseLostHost(): Promise<void> {
    const { signal } = this.context;
    const pem = join(this.#kept, 'kubelet.pem');
    if (!(await exists(pem))) throw new Failure('fatal', `${pem} does not exist`);
    // Without its administrator: nothing but the certificate of the lost node.
    const anonymous = join(this.#kept, 'anonymous.kubeconfig');
    await writeFile(anonymous, '');
    const cluster = { ...this.cluster, kubeconfig: anonymous };
    const by = [`--client-certificate=${pem}`, `--client-key=${pem}`, '--insecure-skip-tls-verify'];
    const answer = await kubectl(cluster, [...by, 'get', 'nodes'], signal).then(
      () => 'accepted',
      (error: unknown) => String(error),
    );
    if (/Unauthorized|must be logged in/.test(answer)) return;
    throw new Failure('fatal', 'the certificate of the lost node is not refused', {
      found: answer,
    });
  }
}
