import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describeError, Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import { run } from '../../host/command.ts';
import { ifMissing, readTextIfPresent, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import type { Settings } from '../../host/settings.ts';
import { KEY_BYTES } from './envelope.ts';
import type { SealMode } from './mode.ts';
import { sealPlaces } from './places.ts';

/** Authenticated with the credential: another one cannot take its place. */
const NAME = '--name=sno-agents';

/** To what something is sealed, and how long that may take. */
export interface Sealing {
  readonly mode: SealMode;
  readonly settings: Pick<Settings, 'tpm2Device' | 'tpm2Pcrs'>;
  readonly limits: Limits;
}

/**
 * Creates the key of a host's sealed files, and stores it sealed by systemd-creds. The key never leaves the memory of this
 * process and of systemd-creds.
 *
 * @throws Failure (retry, `seal-unavailable`) if it cannot be sealed so: it is never sealed to less.
 */
export async function createSealKey(paths: HostPaths, sealing: Sealing): Promise<Buffer> {
  const key = newSealKey();
  await storeSealed(key, paths, sealing);
  return key;
}

/** A key for the sealed files of a host, in memory only. */
export const newSealKey = (): Buffer => randomBytes(KEY_BYTES);

/**
 * Seals the key that a live host has left here in the clear for this host (`handedOver`); undefined if there is none. The
 * caller deletes it once the sealed one is in use.
 *
 * @throws Failure (retry, `seal-unavailable`) as createSealKey.
 */
export async function sealHandedOver(
  paths: HostPaths,
  sealing: Sealing,
): Promise<Buffer | undefined> {
  // Never where a TPM is demanded: there the live host has sealed it.
  if (sealing.mode !== 'host') return undefined;
  const { handedOver } = sealPlaces(paths);
  const key = await readFile(handedOver).catch(ifMissing);
  if (key === undefined) return undefined;
  if (key.length !== KEY_BYTES) throw noKey(paths.onHost(handedOver));
  await storeSealed(key, paths, sealing);
  return key;
}

/**
 * Seals and opens a text, to see whether a key could be.
 * @throws Failure (retry, `seal-unavailable`) if not: systemd 252 seals without any PCR, and cannot open that.
 */
export async function trySealing(sealing: Sealing): Promise<void> {
  const text = newSealKey().toString('base64');
  const opened = await decrypted(await encrypted(text, sealing), sealing);
  if (opened === text) return;
  throw unavailable(sealing, OPENING, new Error('it opens to something else'));
}

async function storeSealed(key: Buffer, paths: HostPaths, sealing: Sealing): Promise<void> {
  const credential = await encrypted(key.toString('base64'), sealing);
  await writeFileAtomic(sealPlaces(paths).credential, `${credential}\n`, 0o600);
}

/**
 * The key of this host's sealed files; undefined if it has none.
 * @throws Failure (retry, `seal-unavailable`) if systemd-creds cannot open it: on another host, or with another TPM.
 */
export async function openSealKey(paths: HostPaths, sealing: Sealing): Promise<Buffer | undefined> {
  const { credential } = sealPlaces(paths);
  const sealedKey = await readTextIfPresent(credential);
  if (sealedKey === undefined) return undefined;
  const key = Buffer.from(await decrypted(sealedKey, sealing), 'base64');
  if (key.length === KEY_BYTES) return key;
  throw noKey(paths.onHost(credential));
}

function encrypted(text: string, sealing: Sealing): Promise<string> {
  const { mode, settings } = sealing;
  const pcrs = mode === 'tpm2' ? [`--tpm2-pcrs=${settings.tpm2Pcrs}`] : [];
  const args = ['encrypt', NAME, `--with-key=${mode}`, ...deviceOf(sealing), ...pcrs];
  return creds(args, text, sealing, SEALING);
}

const decrypted = (credential: string, sealing: Sealing): Promise<string> =>
  creds(['decrypt', NAME, ...deviceOf(sealing)], credential, sealing, OPENING);

const deviceOf = ({ mode, settings }: Sealing): string[] =>
  mode === 'tpm2' ? [`--tpm2-device=${settings.tpm2Device}`] : [];

const creds = (args: string[], input: string, sealing: Sealing, what: string): Promise<string> =>
  run('systemd-creds', [...args, '-', '-'], { ...sealing.limits, input }).catch(
    (cause: unknown) => {
      throw unavailable(sealing, what, cause);
    },
  );

const SEALING = 'the key of this host cannot be sealed';
const OPENING = 'the sealed key of this host cannot be opened';

const noKey = (path: string): Failure =>
  new Failure('fatal', `${path} contains no key`, { code: 'sealed-file-damaged' });

function unavailable({ mode, settings }: Sealing, what: string, cause: unknown): Failure {
  const expected =
    mode === 'tpm2'
      ? `the TPM 2.0 of this host (${settings.tpm2Device}), with the PCRs that it was sealed with`
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
