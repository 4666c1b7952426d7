import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { Failure } from '../lib/base/errors/failure.ts';
import { run } from '../lib/host/command.ts';
import { exists } from '../lib/host/files.ts';
import { AllInOne } from './all-in-one.ts';
import { exchangedAdministrator } from './checks/administrator.ts';
import { kubectl } from './checks/kubectl.ts';
import { expectSame, expectWorkload, renamed, workload } from './checks/renamed.ts';
import { runSubset } from './conformance/subset.ts';
import { eventually } from './eventually.ts';
import type { HostIdentity } from './host/network.ts';
import { onHost } from './host/on-host.ts';
import type { Report } from './installation.ts';
import { cli } from './paths.ts';
import type { LabContext } from './scenario.ts';
import { DOMAIN, emptyDisk } from './site.ts';
import { importHelloImage } from './test-workload.ts';

const SECOND: HostIdentity = {
  name: 'spare',
  mac: '52:54:00:00:00:0d',
  addresses: ['192.168.126.13'],
};
const RESTORE_MS = 15 * 60_000;
const READY_MS = 3 * 60_000;
const VOLUMES = '/var/lib/local-path-provisioner';
const CREATE_MS = 60_000;
const RENEW_MS = 5 * 60_000;
/** Of the kubelet. */
const KUBELET = 'var/lib/kubelet/pki/kubelet-client-current.pem';

/** An all-in-one host that gets another name and is then lost, and the host that continues its cluster. */
export class Recover extends AllInOne {
  #lostNode = '';

  constructor(context: LabContext) {
    super(context, { otherHosts: [SECOND], dataDisk: { mountPoint: VOLUMES } });
  }

  async renameHost(report: Report): Promise<void> {
    await this.runChecks([workload, renamed, exchangedAdministrator], report, {});
  }

  /** What its administrator has elsewhere. */
  get #kept(): string {
    return join(this.context.folder, 'kept');
  }

  /** An encrypted backup, and what a thief finds on its disk. */
  async backUp(): Promise<void> {
    const { signal } = this.context;
    const identity = await generateIdentity();
    const recipient = await identityToRecipient(identity);
    const to = '/var/tmp/host.age';
    const create = ['sno-backup', 'create', '--to', to, '--recipient', recipient];
    await onHost(this.booted, create, signal);
    this.#lostNode = (await kubectl(this.cluster, ['get', 'nodes', '-o', 'name'], signal)).trim();
    const { rootDir } = this.booted;
    await mkdir(this.#kept, { recursive: true, mode: 0o700 });
    await cp(join(rootDir, to), join(this.#kept, 'host.age'));
    // Written when its kubeconfig was exchanged.
    const signer = join(dirname(this.cluster.kubeconfig), 'backup-signer.json');
    await cp(signer, join(this.#kept, 'backup-signer.json'));
    await writeFile(join(this.#kept, 'identity.txt'), `${identity}\n`, { mode: 0o600 });
    await writeFile(
      join(this.#kept, 'kubelet.pem'),
      await readFile(join(rootDir, KUBELET), 'utf8'),
      { mode: 0o600 },
    );
  }

  /** Its system disk is destroyed. Other hardware gets the data disk, and a config made from the backup. */
  async replaceHost(report: Report): Promise<void> {
    const { folder, signal } = this.context;
    await this.booted.stop();
    await rm(join(folder, 'disk.raw'));
    // Not the label of a boot, whose folder is deleted with it.
    const target = join(folder, 'other-hardware');
    await mkdir(target);
    const backup = ['--backup', join(this.#kept, 'host.age')];
    const identity = ['--identity', join(this.#kept, 'identity.txt')];
    const signer = ['--signer', join(this.#kept, 'backup-signer.json')];
    const place = ['--hostname', `${SECOND.name}.${DOMAIN}`];
    const create = [
      'create',
      'restore-ignition',
      '--dir',
      target,
      ...backup,
      ...identity,
      ...signer,
      ...place,
    ];
    await run(cli, [...create, ...this.served.options], { signal, deadlineMs: CREATE_MS });
    this.prepared(
      { ...this.site, host: SECOND, disk: await emptyDisk(target) },
      {
        ignition: join(target, 'restore.ign'),
        kubeconfig: join(target, 'auth/kubeconfig'),
      },
    );
    await this.writeDisk('spare-live');
    await this.bootInstalled('spare');
    await this.finish(report, 'spare');
  }

  /** Nobody touches it: by name, address and keys it is another host, and its workload is that of the lost one. */
  async awaitRestored(report: Report): Promise<void> {
    const { signal } = this.context;
    // The lab has no registry.
    await importHelloImage(this.booted, join(this.context.folder, 'hello.tar'), signal);
    const ended = join(this.booted.rootDir, 'var/lib/sno-agents/sno-identity/last.json');
    await this.following('spare', report, () =>
      eventually(
        async () => {
          if (!(await exists(ended))) throw new Failure('retry', 'the restore has not ended');
        },
        RESTORE_MS,
        signal,
      ),
    );
    const nodes = await kubectl(this.cluster, ['get', 'nodes', '-o', 'name'], signal);
    expectSame('Nodes', `node/${SECOND.name}.${DOMAIN}`, nodes.trim());
    if (nodes.trim() === this.#lostNode) {
      throw new Failure('fatal', 'the other host has the name of the lost one', { found: nodes });
    }
    await this.expectWorkload();
    const left = join(this.booted.rootDir, 'var/lib/sno-agents/lost-host');
    if (await exists(left)) throw new Failure('fatal', `${left} is left`);
  }

  /** The database says that the kubeconfig of the lost host was exchanged: that ends nothing here. */
  async exchangeKubeconfig(report: Report): Promise<void> {
    const renew = ['systemctl', 'start', 'sno-renew.service'];
    await onHost(this.booted, renew, this.context.signal, RENEW_MS);
    await this.runChecks([exchangedAdministrator], report, {});
  }

  async passSubset(report: Report, label: string): Promise<void> {
    const out = join(this.context.out, label);
    report(`${await runSubset(this.cluster, out, this.context.signal)} tests passed`);
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

  async expectWorkload(): Promise<void> {
    const { signal } = this.context;
    await eventually(() => expectWorkload(this.cluster, signal), READY_MS, signal);
  }
}
