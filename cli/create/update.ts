import { chmod, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import {
  UPDATE_FILES,
  type UpdateManifest,
  updateManifestSchema,
  updateText,
} from '../../lib/change/update/manifest.ts';
import { UPDATE_SIGNATURE } from '../../lib/change/update/signature.ts';
import { predecessors } from '../../lib/change/update/successor.ts';
import { copyFile } from '../../lib/host/copy.ts';
import { sha256OfFile, writeFileAtomic } from '../../lib/host/files.ts';
import { copyStoredTo } from '../../lib/payload/copy.ts';
import { payloadFile, readPayload } from '../../lib/payload/payload.ts';
import { payloadFiles } from '../../lib/payload/verify.ts';
import { signText } from '../../lib/pki/signature/ssh-signature.ts';
import { executablePath, readExecutable, requireSameArchitecture } from '../agents-executable.ts';
import { type AcceptOptions, acceptedPayload } from '../payload/accept.ts';
import { versionFaults } from '../payload/measured.ts';
import type { Surroundings } from '../surroundings.ts';
import { expectFree, makeNewFolder, refuse } from './new-folder.ts';

export interface UpdateOptions extends AcceptOptions {
  readonly dir: string;
  readonly payload: string;
  readonly key: string;
  readonly agentsExecutable?: string;
  /** Default: the time in seconds, so that it grows. False: none. */
  readonly serial?: number | false;
  readonly expires?: string;
}

/** A passphrase may have to be typed. */
const SIGN_MS = 300_000;

/**
 * `sno create update`: a folder with the executable, the payload and their signed manifest, for a medium or a web
 * server. @throws Failure (usage) for an executable or payload that cannot be used, or a key that cannot sign
 */
export async function createUpdate(
  options: UpdateOptions,
  {
    environment,
    print,
    notice,
    wrote,
    signal,
  }: Pick<Surroundings, 'environment' | 'print' | 'notice' | 'wrote' | 'signal'>,
): Promise<void> {
  const target = resolve(options.dir);
  const faults: string[] = [];
  await expectFree(target, faults);
  refuse(faults);
  const executable = executablePath(options.agentsExecutable, environment);
  const described = await readExecutable(executable, signal);
  const payload = await readPayload(options.payload);
  requireSameArchitecture(described, payload);
  const notices = await acceptedPayload(payload, 'run', options, signal);
  refuse(await versionFaults(payload, signal));
  const manifest: UpdateManifest = {
    apiVersion: 'sno-agents/v1',
    kind: 'Update',
    ...(options.serial === false
      ? {}
      : { serial: options.serial ?? Math.floor(Date.now() / 1000) }),
    ...(options.expires === undefined ? {} : { expires: options.expires }),
    architecture: payload.architecture,
    executable: {
      version: described.version,
      size: (await stat(executable)).size,
      sha256: described.sha256,
    },
    payload: {
      versions: payload.versions,
      size: payloadFiles(payload).reduce((sum, { size }) => sum + size, 0),
      sha256: await sha256OfFile(join(payload.directory, payloadFile), signal),
    },
  };
  const text = updateText(manifest);
  // First: a key that cannot sign is found out before gigabytes are copied.
  const signature = await signText(text, resolve(options.key), UPDATE_SIGNATURE, {
    signal,
    deadlineMs: SIGN_MS,
  });
  await makeNewFolder(target, async (staging) => {
    await copyFile(executable, join(staging, UPDATE_FILES.executable), 0o755, signal);
    await copyStoredTo(payload, join(staging, UPDATE_FILES.payload), signal);
    // As in every payload that "sno create payload" writes.
    for (const { file, zstd } of payload.binaries) {
      if (zstd === undefined) await chmod(join(staging, UPDATE_FILES.payload, file), 0o755);
    }
    await writeFileAtomic(join(staging, UPDATE_FILES.signature), signature, 0o644);
    await writeFileAtomic(join(staging, UPDATE_FILES.manifest), text, 0o644);
  });
  const { kubernetes, etcd } = payload.versions;
  for (const text of notices) notice(text);
  wrote(options.dir);
  print(`sno-agents ${described.version}, Kubernetes ${kubernetes}, etcd ${etcd}`);
  print(orderOf(manifest));
  print(`For hosts with ${predecessors(payload.versions)}`);
  print(`On the host: sno-update run --from FOLDER, or the URL where these files are served`);
}

/** Which hosts still take an update, for people. */
export const orderOf = ({ serial, expires }: UpdateManifest): string =>
  [
    serial === undefined
      ? 'no serial: only hosts that have never taken one take it'
      : `serial ${serial}`,
    ...(expires === undefined ? [] : [`expires ${expires}`]),
  ].join(', ');

/** Of an option. @throws InvalidArgumentError */
export function serialOf(text: string): number {
  const serial = Number(text);
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(serial)) return serial;
  throw new InvalidArgumentError('expected a whole number, 1 or greater');
}

/** Of an option, as RFC 3339 in UTC, and as a host reads it: JavaScript takes the 30th of February for the 2nd of March. @throws InvalidArgumentError */
export function pointInTime(text: string): string {
  const isRead = updateManifestSchema.shape.expires.safeParse(text).success;
  if (!isRead || !/T\d\d:\d\d:\d\dZ$/.test(text)) {
    throw new InvalidArgumentError('expected a time such as 2027-01-31T00:00:00Z');
  }
  if (Date.parse(text) <= Date.now()) throw new InvalidArgumentError('it is in the past');
  return text;
}
