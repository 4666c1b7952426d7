import { sign, verify, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { Failure } from '../../../base/errors/failure.ts';
import { jsonFaults } from '../../../base/errors/schema-faults.ts';
import { parseJson } from '../../../base/json.ts';

/** The entry behind the header: base64 of a signature by the host's authority of administrators. */
export const SIGNATURE_FILE = 'backup.json.sig';

/** Before what is signed. That key signs certificates, too, and none of them begins so. */
const PURPOSE = 'sno-agents portable backup 1\n';
const HASH = 'sha256';

/**
 * `auth/backup-signer.json` on the laptop: by what it knows that a host has made a backup. The authority is the one that
 * has signed the administrator of auth/kubeconfig. Whoever has its key administers the cluster anyway, so a backup by
 * that key brings nobody a right that he does not have.
 */
const signerSchema = z.object({
  schemaVersion: z.literal(1),
  clusterId: z.string().min(1),
  certificate: z
    .string()
    .refine(isCertificate, { error: 'expected a certificate as PEM' })
    .describe('PEM; of the authority'),
});

export type BackupSigner = z.infer<typeof signerSchema>;

/** Who may have made a backup that is read. */
export type AcceptedAuthor =
  /** That host. `file`: where its signer is, for messages. */
  | { readonly kind: 'host'; readonly signer: BackupSigner; readonly file: string }
  /** Anybody: a person accepts it once, by the id of the cluster whose backup it has to be. */
  | { readonly kind: 'accepted'; readonly clusterId: string }
  /** Whoever made the Ignition config that carries it. */
  | { readonly kind: 'ignition' }
  /** Anybody: it is only described. */
  | { readonly kind: 'not-compared' };

/** Signs a header. @param key PEM, of the host's authority of administrators */
export const signHeader = (text: string | Buffer, key: string): string =>
  sign(HASH, signed(text), key).toString('base64');

/** What is known of a portable backup before anything in it is used. */
export interface Claimed {
  readonly path: string;
  /** Of its header, as it is stored. */
  readonly text: Buffer;
  /** What is stored behind it. */
  readonly signature: string | undefined;
}

/** @throws Failure (usage, `backup-unusable`) unless the accepted author made it */
export function requireAuthor({ path, text, signature }: Claimed, accepted: AcceptedAuthor): void {
  if (accepted.kind !== 'host') return;
  const { signer, file } = accepted;
  if (signature !== undefined && isBy(signer, text, signature)) return;
  const isUnsigned = signature === undefined;
  throw new Failure('usage', `nothing shows that the host of ${file} made the backup ${path}`, {
    code: 'backup-unusable',
    subject: path,
    expected: 'a signature by its authority of administrators',
    found: isUnsigned
      ? 'no signature: an earlier release made it, or anybody who knows a recipient'
      : 'a signature by another key, or for another backup',
    fix: isUnsigned
      ? `Make another one on the host. If the host is lost and the file was always in your hands, accept it once: --accept-unsigned ${signer.clusterId} instead of --signer.`
      : 'Use another copy of it. If the host has another authority since "sno-certificates rotate-ca", run "sno wait-for install-complete" again, and make another backup.',
  });
}

/**
 * The cluster whose backup it has to be. The header names it twice.
 *
 * @throws Error that says what was expected
 */
export function requireCluster(named: readonly string[], accepted: AcceptedAuthor): void {
  const [id, other = id] = new Set(named);
  if (id !== other) throw new Error(`it is of two clusters, ${named.join(' and ')}`);
  const expected = expectedCluster(accepted);
  if (expected === undefined || expected === id) return;
  throw new Error(`it is of the cluster ${id}, expected ${expected}`);
}

function expectedCluster(accepted: AcceptedAuthor): string | undefined {
  if (accepted.kind === 'host') return accepted.signer.clusterId;
  return accepted.kind === 'accepted' ? accepted.clusterId : undefined;
}

/** @throws Failure (usage) for a text that is not that of such a file; `path` is named */
export function parseSigner(text: string, path: string): BackupSigner {
  const parsed = signerSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('usage', `${path} cannot be used to know the host that made a backup`, {
    expected: 'auth/backup-signer.json, as "sno wait-for install-complete" writes it',
    found: jsonFaults(text, parsed.error),
  });
}

const isBy = ({ certificate }: BackupSigner, text: Buffer, signature: string): boolean =>
  verify(
    HASH,
    signed(text),
    new X509Certificate(certificate).publicKey,
    Buffer.from(signature, 'base64'),
  );

const signed = (text: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(PURPOSE), Buffer.from(text)]);

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    return false;
  }
}
