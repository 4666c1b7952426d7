import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { Failure } from '../lib/errors/failure.ts';
import { file } from '../lib/ignition/entries.ts';
import { keyFingerprintsIn } from '../lib/render/private-keys.ts';
import { AllInOne } from './all-in-one.ts';
import { kubectl } from './checks/kubectl.ts';
import { privateKeysBelow } from './checks/private-keys.ts';
import { ensureComponent } from './components/component.ts';
import { swtpm } from './components/swtpm.ts';
import { tpmOsImage } from './components/tpm-system.ts';
import { eventually } from './eventually.ts';
import { BRIDGE_ADDRESS } from './host/network.ts';
import type { LabContext } from './scenario.ts';
import { type RunningTpm, startTpm } from './servers/tpm.ts';

const PORT = 2321;
const READY_MS = 4 * 60_000;
const COMMAND_MS = 20_000;
const BACKUP_MS = 120_000;
const KEYS = ['find', '/etc/kubernetes/pki', '-name', '*.key', '-exec', 'cat', '{}', '+'];
/** Where a host keeps anything but programs and images. */
const FOLDERS = [
  ...['etc', 'opt', 'root', 'home', 'boot', 'var/log', 'var/lib/sno-agents'],
  ...['var/lib/kubelet', 'var/lib/etcd', 'var/lib/systemd'],
];
/** Authorities, leaves, service accounts. */
const LEAST_KEYS = 16;

/** Its TPM is a program at the site, not a device: sno-unseal needs the network for it, here alone. */
const DROPIN = `[Unit]
Wants=network-online.target
After=network-online.target

[Service]
IPAddressAllow=${BRIDGE_ADDRESS}
RestrictAddressFamilies=AF_INET
`;

type Which = 'its own TPM' | 'another TPM';

/** An all-in-one host whose keys are sealed to a TPM. */
export class Sealed extends AllInOne {
  #tpm: RunningTpm | undefined;
  #keys: readonly string[] = [];

  constructor(context: LabContext) {
    super(context, { hostInputs: { sealSecrets: 'tpm2' }, operatingSystem: tpmOsImage });
    context.teardown.add('turn the TPM off', () => this.#powerOff());
  }

  override async create(): Promise<void> {
    await super.create();
    await addTpm(this.created.ignition);
    await this.#powerOn('its own TPM');
  }

  /** With copies of keys: the unit of the backup has a sandbox of its own. */
  async makeBackup(): Promise<void> {
    const { exitCode, stderr } = await this.booted.exec(
      ['/usr/local/bin/sno-backup', 'create'],
      { timeoutMs: BACKUP_MS },
      this.context.signal,
    );
    if (exitCode !== 0) throw failed('sno-backup create failed', 'exit code 0', stderr.trim());
  }

  /** The keys that the host has in memory are in no file of its disk, which is read from outside. */
  async checkDiskFromOutside(): Promise<void> {
    this.#keys = await this.#keysInside();
    if (this.#keys.length < LEAST_KEYS) {
      throw failed('the host has too few keys', `${LEAST_KEYS}`, `${this.#keys.length}`);
    }
    const { rootDir } = this.booted;
    const left = await readdir(join(rootDir, 'etc/kubernetes/pki'));
    if (left.length > 0) throw failed('the disk has files of the PKI', 'none', left.join(', '));
    const found = await privateKeysBelow(rootDir, FOLDERS, this.context.signal);
    const permanent = found.filter(({ fingerprint }) => this.#keys.includes(fingerprint));
    if (permanent.length > 0) {
      throw failed('keys are on the disk', 'none', permanent.map(({ path }) => path).join(', '));
    }
  }

  async restartWith(which: Which): Promise<void> {
    await this.booted.stop();
    await this.#powerOff();
    await this.#powerOn(which);
    await this.bootInstalled(which.replaceAll(' ', '-'));
  }

  async checkOpened(): Promise<void> {
    const { signal } = this.context;
    const ready = () => kubectl(this.cluster, ['get', '--raw', '/readyz'], signal);
    await eventually(ready, READY_MS, signal);
    const keys = await this.#keysInside();
    if (!isDeepStrictEqual(keys, this.#keys)) {
      throw failed('the keys are others', 'those from before the restart', 'others');
    }
  }

  async checkClosed(): Promise<void> {
    const { signal } = this.context;
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
    return this.booted.exec(argv, { timeoutMs: COMMAND_MS }, this.context.signal);
  }

  async #powerOn(which: Which): Promise<void> {
    const { folder, signal } = this.context;
    const programs = await ensureComponent(swtpm, { signal, report: () => undefined });
    const state = join(folder, which.replaceAll(' ', '-'));
    this.#tpm = await startTpm(programs, state, { host: BRIDGE_ADDRESS, port: PORT });
  }

  async #powerOff(): Promise<void> {
    await this.#tpm?.[Symbol.asyncDispose]();
    this.#tpm = undefined;
  }
}

const failed = (what: string, expected: string, found: string): Failure =>
  new Failure('fatal', what, { expected, found });

const configSchema = z.looseObject({
  storage: z.looseObject({ files: z.array(z.unknown()) }),
  systemd: z.looseObject({ units: z.array(z.looseObject({ name: z.string() })) }),
});

/** As an administrator would: with one more file and a drop-in in the Ignition config. */
async function addTpm(path: string): Promise<void> {
  const config = configSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  const settings = { tpm2Device: `swtpm:host=${BRIDGE_ADDRESS},port=${PORT}`, unsealKeyMs: 30_000 };
  config.storage.files.push(file('/etc/sno-agents/settings.json', 0o644, JSON.stringify(settings)));
  const units = config.systemd.units.map((unit) =>
    unit.name === 'sno-unseal.service'
      ? { ...unit, dropins: [{ name: '10-lab-tpm.conf', contents: DROPIN }] }
      : unit,
  );
  await writeFile(path, JSON.stringify({ ...config, systemd: { units } }), { mode: 0o600 });
}
