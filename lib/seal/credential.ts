import { randomBytes } from 'node:crypto';
import type { SealMode } from '../cluster/cluster.ts';
import { describeError, Failure } from '../errors/failure.ts';
import { run } from '../host/command.ts';
import { readTextIfPresent, writeFileAtomic } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';
import type { Settings } from '../host/settings.ts';
import type { Limits } from '../wait/limits.ts';
import { KEY_BYTES } from './envelope.ts';
import { sealPlaces } from './places.ts';

/** Authenticated with the credential: another one cannot take its place. */
const NAME = '--name=sno-agents';

type Tpm2Settings = Pick<Settings, 'tpm2Device' | 'tpm2Pcrs'>;

/**
 * Creates the key of a host's sealed files, and stores it sealed by systemd-creds. The key never leaves the memory of this
 * process and of systemd-creds.
 *
 * @throws Failure (retry, `seal-unavailable`) if it cannot be sealed so: it is never sealed to less.
 */
export async function createSealKey(
  paths: HostPaths,
  mode: SealMode,
  settings: Tpm2Settings,
  limits: Limits,
): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES);
  const device = mode === 'tpm2' ? tpm2Options(settings) : [];
  const options = [NAME, `--with-key=${mode}`, ...device];
  const credential = await run('systemd-creds', ['encrypt', ...options, '-', '-'], {
    ...limits,
    input: key.toString('base64'),
  }).catch((cause: unknown) => {
    throw unavailable(mode, settings, 'the key of this host cannot be sealed', cause);
  });
  await writeFileAtomic(sealPlaces(paths).credential, `${credential}\n`, 0o600);
  return key;
}

/**
 * The key of this host's sealed files; undefined if it has none.
 * @throws Failure (retry, `seal-unavailable`) if systemd-creds cannot open it: on another host, or with another TPM.
 */
export async function openSealKey(
  paths: HostPaths,
  mode: SealMode,
  settings: Tpm2Settings,
  limits: Limits,
): Promise<Buffer | undefined> {
  const { credential } = sealPlaces(paths);
  const sealedKey = await readTextIfPresent(credential);
  if (sealedKey === undefined) return undefined;
  const device = mode === 'tpm2' ? [`--tpm2-device=${settings.tpm2Device}`] : [];
  const text = await run('systemd-creds', ['decrypt', NAME, ...device, '-', '-'], {
    ...limits,
    input: sealedKey,
  }).catch((cause: unknown) => {
    throw unavailable(mode, settings, 'the sealed key of this host cannot be opened', cause);
  });
  const key = Buffer.from(text, 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new Failure('fatal', `${paths.onHost(credential)} contains no key`, {
    code: 'sealed-file-damaged',
  });
}

const tpm2Options = ({ tpm2Device, tpm2Pcrs }: Tpm2Settings) => [
  `--tpm2-device=${tpm2Device}`,
  `--tpm2-pcrs=${tpm2Pcrs}`,
];

function unavailable(
  mode: SealMode,
  { tpm2Device }: Tpm2Settings,
  what: string,
  cause: unknown,
): Failure {
  const expected =
    mode === 'tpm2'
      ? `the TPM 2.0 of this host (${tpm2Device}), with the PCRs that it was sealed with`
      : 'the secret of this host, /var/lib/systemd/credential.secret';
  return new Failure('retry', what, {
    code: 'seal-unavailable',
    expected,
    found: describeError(cause),
    fix:
      mode === 'tpm2'
        ? 'Turn the TPM on in the firmware. Without one, use a host that has one, or another sealSecrets in install-config.yaml.'
        : 'Use the disk with the system that it was installed with.',
    cause,
  });
}
