import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { decodeDataUrl } from '../lib/base/data-url.ts';
import { Failure } from '../lib/base/errors/failure.ts';
import { parseConfig } from '../lib/render/ignition/config.ts';
import { effectiveConfig } from '../lib/render/ignition/validate.ts';
import { keyFingerprintsIn } from '../lib/render/private-keys.ts';
import type { AgentSettings } from './agent-settings.ts';
import { AllInOne } from './all-in-one.ts';
import { rotate } from './certificates/rotation.ts';
import { backup } from './checks/backup.ts';
import { bareSystem } from './checks/bare-system.ts';
import { diskChecks } from './checks/index.ts';
import { kubectl } from './checks/kubectl.ts';
import { privateKeysBelow } from './checks/private-keys.ts';
import { ensureComponent } from './components/component.ts';
import { swtpm } from './components/swtpm.ts';
import { tpmLiveIso, tpmOsImage, tpmRootFilesystem } from './components/tpm-system.ts';
import { eventually } from './eventually.ts';
import { inspectDisk } from './host/disk.ts';
import { BRIDGE_ADDRESS } from './host/network.ts';
import { Installation, type Report } from './installation.ts';
import { patient } from './patience.ts';
import type { LabContext } from './scenario.ts';
import { type RunningTpm, startTpm } from './servers/tpm.ts';

const PORT = 2321;
const READY_MS = 4 * 60_000;
const COMMAND_MS = 20_000;
const BACKUP_MS = 120_000;
const KEYS = ['find', '/etc/kubernetes/pki', '-name', '*.key', '-exec', 'cat', '{}', '+'];
/** Where a host keeps anything but programs and images, beside /etc: of the root, and of its /var. */
const IN_ROOT = ['opt', 'root', 'home'];
const IN_VAR = [
  ...['opt', 'roothome', 'home', 'log'],
  ...['lib/sno-agents', 'lib/kubelet', 'lib/etcd', 'lib/systemd'],
];
/** Authorities, leaves, service accounts. */
const LEAST_KEYS = 16;

/** A container reaches its TPM over the network; a machine has it as a device. */
const settingsFor = ({ hosts }: LabContext): AgentSettings => ({
  unsealKeyMs: patient(30_000),
  ...(hosts.are === 'containers' && { tpm2Device: `swtpm:host=${BRIDGE_ADDRESS},port=${PORT}` }),
});

type Which = 'its own TPM' | 'another TPM';

/** An all-in-one host whose keys are sealed to a TPM. */
export class SealedAllInOne extends AllInOne {
  readonly seal: Seal;

  constructor(context: LabContext) {
    super(context, {
      hostInputs: { sealSecrets: 'tpm2' },
      settings: settingsFor(context),
      ...(context.hosts.are === 'containers' && { operatingSystem: tpmOsImage }),
    });
    this.seal = new Seal(this);
  }

  override async create(): Promise<void> {
    await super.create();
    await this.seal.powerOn('its own TPM');
  }
}

/** The same installed from a live host, which has that TPM too. */
export class SealedInPlace extends Installation {
  readonly seal: Seal;

  constructor(context: LabContext) {
    super(context, {
      hostInputs: { sealSecrets: 'tpm2' },
      settings: settingsFor(context),
      ...(context.hosts.are === 'containers' && {
        system: { root: tpmRootFilesystem, iso: tpmLiveIso },
      }),
    });
    this.seal = new Seal(this);
  }

  override async create(): Promise<void> {
    await super.create();
    await this.seal.powerOn('its own TPM');
  }

  /** Its image has a drop-in for a unit of the agents, which only the lab needs. */
  override checkDisk(report: Report): Promise<void> {
    return super.checkDisk(
      report,
      diskChecks.filter((check) => check !== bareSystem),
    );
  }

  /** Makes one and restores it, with the keys of the sealed host. */
  checkBackup(report: Report): Promise<void> {
    return this.runChecks([backup], report, {});
  }
}

/** The same on a machine without a TPM: the live host seals with a key that the first boot seals to its own secret. */
export class SealedToHost extends Installation {
  readonly seal: Seal;

  constructor(context: LabContext) {
    super(context, { hostInputs: { sealSecrets: 'host' } });
    this.seal = new Seal(this);
  }

  /** The key in the clear is needed once. */
  async expectKeySealed(): Promise<void> {
    const { rootDir } = this.booted;
    const folder = join(rootDir, 'var/lib/sno-agents/sealed');
    const found = (await readdir(folder)).toSorted();
    if (isDeepStrictEqual(found, ['files', 'key.cred'])) return;
    throw failed('the key of the seal is not sealed', 'files, key.cred', found.join(', '));
  }
}

/** The TPM of a host, and what its disk and its memory say of its keys. */
export class Seal {
  readonly #run: Installation;
  #tpm: RunningTpm | undefined;
  #keys: readonly string[] = [];
  #carried: readonly string[] = [];

  constructor(run: Installation) {
    this.#run = run;
    run.context.teardown.add('turn the TPM off', () => this.#powerOff());
  }

  /** What keys the combined Ignition config has in the clear, before the first boot deletes it. */
  async readCarried(): Promise<void> {
    const { site, context } = this.#run;
    await inspectDisk(site.disk, context.signal, async ({ boot }) => {
      const path = join(boot, 'ignition/config.ign');
      const { config } = effectiveConfig(parseConfig(await readFile(path, 'utf8'), path));
      this.#carried = (config.storage?.files ?? []).flatMap(({ contents }) =>
        keyFingerprintsIn(decodeDataUrl(contents ?? {}).toString('latin1')),
      );
    });
    // That of the bootstrap's administrator, which is deleted later, and the kubelet's own.
    if (this.#carried.length === 0) {
      throw failed('the combined Ignition config has no key at all', 'some', 'none');
    }
  }

  /** With copies of keys: the unit of the backup has a sandbox of its own. */
  async makeBackup(): Promise<void> {
    const { exitCode, stderr } = await this.#run.booted.exec(
      ['/usr/local/bin/sno-backup', 'create'],
      { timeoutMs: BACKUP_MS },
      this.#run.context.signal,
    );
    if (exitCode !== 0) throw failed('sno-backup create failed', 'exit code 0', stderr.trim());
  }

  /** The keys that the host has in memory are in no file of its disk, which is read from outside. The host is off then. */
  async checkDiskFromOutside(): Promise<void> {
    this.#keys = await this.#keysInside();
    if (this.#keys.length < LEAST_KEYS) {
      throw failed('the host has too few keys', `${LEAST_KEYS}`, `${this.#keys.length}`);
    }
    const { booted, context, site } = this.#run;
    await booted.stop();
    await inspectDisk(site.disk, context.signal, async (mounted) => {
      const { boot, root, etc } = mounted;
      const left = await readdir(join(etc, 'kubernetes/pki'));
      if (left.length > 0) throw failed('the disk has files of the PKI', 'none', left.join(', '));
      const folders = [
        etc,
        ...IN_ROOT.map((name) => join(root, name)),
        ...IN_VAR.map((name) => join(mounted.var, name)),
      ].map((folder) => relative(root, folder));
      const found = [
        ...(await privateKeysBelow(root, folders, context.signal)),
        ...(await privateKeysBelow(boot, ['.'], context.signal)),
      ];
      const permanent = found.filter(({ fingerprint }) => this.#keys.includes(fingerprint));
      if (permanent.length > 0) {
        throw failed('keys are on the disk', 'none', permanent.map(({ path }) => path).join(', '));
      }
    });
    const carried = this.#carried.filter((key) => this.#keys.includes(key));
    if (carried.length > 0) {
      throw failed('keys were in the combined Ignition config', 'none', `${carried.length}`);
    }
  }

  async replaceCa(): Promise<void> {
    await rotate(this.#run.cluster, ['rotate-ca', 'serving', 'etcd'], this.#run.context.signal);
  }

  async restartWith(which: Which, label: string): Promise<void> {
    await this.#run.booted.stop();
    await this.bootWith(which, label);
  }

  async restart(label: string): Promise<void> {
    await this.#run.booted.stop();
    await this.#run.bootInstalled(label);
  }

  /** The TPM is turned off and on with its host. */
  async bootWith(which: Which, label: string): Promise<void> {
    await this.#powerOff();
    await this.powerOn(which);
    await this.#run.bootInstalled(label);
  }

  async checkOpened(): Promise<void> {
    const { signal } = this.#run.context;
    const ready = () => kubectl(this.#run.cluster, ['get', '--raw', '/readyz'], signal);
    await eventually(ready, READY_MS, signal);
    const keys = await this.#keysInside();
    if (!isDeepStrictEqual(keys, this.#keys)) {
      throw failed('the keys are others', 'those from before the restart', 'others');
    }
  }

  async checkClosed(): Promise<void> {
    const { signal } = this.#run.context;
    const hasFailed = async () => {
      const { exitCode } = await this.#inside(['systemctl', 'is-failed', 'sno-unseal.service']);
      if (exitCode !== 0) throw new Error('sno-unseal has not failed yet');
    };
    await eventually(hasFailed, READY_MS, signal);
    const { exitCode, stdout } = await this.#inside(['systemctl', 'is-active', 'kubelet.service']);
    if (exitCode === 0) throw failed('the kubelet runs', 'inactive', stdout.trim());
    const keys = await this.#keysInside();
    if (keys.length > 0) throw failed('keys are open', 'none', `${keys.length}`);
  }

  async #keysInside(): Promise<string[]> {
    const { stdout } = await this.#inside(KEYS);
    return keyFingerprintsIn(stdout).toSorted();
  }

  #inside(argv: readonly string[]) {
    return this.#run.booted.exec(argv, { timeoutMs: COMMAND_MS }, this.#run.context.signal);
  }

  async powerOn(which: Which): Promise<void> {
    const { folder, hosts, signal } = this.#run.context;
    // Not one of a boot, which ends with it.
    const state = join(folder, 'tpms', which.replaceAll(' ', '-'));
    if (hosts.are === 'machines') {
      this.#run.hardware = { ...this.#run.hardware, tpm: state };
      return;
    }
    const programs = await ensureComponent(swtpm, { signal, report: () => undefined });
    this.#tpm = await startTpm(programs, state, { host: BRIDGE_ADDRESS, port: PORT });
  }

  async #powerOff(): Promise<void> {
    await this.#tpm?.[Symbol.asyncDispose]();
    this.#tpm = undefined;
  }
}

const failed = (what: string, expected: string, found: string): Failure =>
  new Failure('fatal', what, { expected, found });
