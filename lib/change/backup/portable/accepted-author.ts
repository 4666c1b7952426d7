import { Failure } from '../../../base/errors/failure.ts';
import { readGivenFile } from '../../../host/given-file.ts';
import { type AcceptedAuthor, type BackupSigner, parseSigner } from './author.ts';

/** Options of the commands that use a backup. */
export interface AuthorOptions {
  /** A file that parseSigner reads. */
  readonly signer?: string | undefined;
  /** The id of a cluster. */
  readonly acceptUnsigned?: string | undefined;
}

/** @throws Failure (usage) unless exactly one of the options is given, and can be used */
export async function acceptedAuthor(
  { signer, acceptUnsigned }: AuthorOptions,
  signal?: AbortSignal,
): Promise<AcceptedAuthor> {
  if (signer !== undefined && acceptUnsigned === undefined) {
    return { kind: 'host', signer: await readSigner(signer, signal), file: signer };
  }
  if (signer === undefined && acceptUnsigned !== undefined) {
    return { kind: 'accepted', clusterId: acceptUnsigned };
  }
  throw new Failure('usage', 'the options do not say who may have made the backup', {
    expected:
      '--signer FILE with the auth/backup-signer.json of the lost host, or --accept-unsigned CLUSTER-ID for a backup without signature, once',
    found: signer === undefined ? 'neither' : 'both',
  });
}

/** @throws Failure (usage) for a file that cannot be used */
export const readSigner = async (path: string, signal?: AbortSignal): Promise<BackupSigner> =>
  parseSigner(await readGivenFile(path, '--signer', { signal }), path);
