import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { isMissing, readTextIfPresent } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { KeyPair } from '../../lib/pki/authority.ts';
import { validityOf } from '../../lib/pki/certificate.ts';
import { needsRenewal, renewalGains } from '../../lib/pki/leaf.ts';
import { type AuthorityName, authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import type { Leaf } from '../../lib/render/kubernetes/leaves.ts';
import { sealKey } from '../../lib/secrets/seal/files.ts';

/** A leaf whose file exists on this host. */
export interface LeafOnDisk<L extends Leaf = Leaf> {
  readonly leaf: L;
  /** The resolved path: the kubelet's is reached through a link that must be kept. */
  readonly path: string;
  /** The contents of that file. */
  readonly pem: string;
}

/** Those of the leaves that exist; the bootstrap's are deleted by the clean-up. */
export async function leavesOnDisk<L extends Leaf>(
  paths: HostPaths,
  leaves: readonly L[],
): Promise<LeafOnDisk<L>[]> {
  const found: LeafOnDisk<L>[] = [];
  for (const leaf of leaves) {
    try {
      const path = await realpath(paths.at(leaf.certificate));
      found.push({ leaf, path, pem: await readFile(path, 'utf8') });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return found;
}

/**
 * Those that are due for renewal, unless their authority expires at the same time. A damaged
 * certificate is due too: the attempt to renew it says what is wrong.
 */
export async function dueLeaves<L extends Leaf>(
  paths: HostPaths,
  leaves: readonly L[],
  now: Date,
): Promise<LeafOnDisk<L>[]> {
  const due: LeafOnDisk<L>[] = [];
  for (const found of await leavesOnDisk(paths, leaves)) {
    if (await isDue(paths, found, now)) due.push(found);
  }
  return due;
}

async function isDue(paths: HostPaths, { leaf, pem }: LeafOnDisk, now: Date): Promise<boolean> {
  if (!isReadable(pem)) return true;
  if (!needsRenewal(pem, now)) return false;
  if (!isValid(pem, now)) return true;
  const { certificate } = authorityPaths(leaf.authority);
  const authority = await readTextIfPresent(paths.at(certificate));
  // Of a damaged authority, the attempt says what is wrong.
  return authority === undefined || !isReadable(authority) || renewalGains(pem, authority);
}

function isReadable(pem: string): boolean {
  try {
    validityOf(pem);
    return true;
  } catch {
    return false;
  }
}

/** Whether the first certificate of a text is valid at a time. */
export function isValid(pem: string, now: Date): boolean {
  const { notBefore, notAfter } = validityOf(pem);
  return notBefore <= now && now <= notAfter;
}

/** The same; a damaged certificate is not valid. */
export const isUsable = (pem: string, now: Date): boolean => isReadable(pem) && isValid(pem, now);

/** Certificate and key of an authority on this host. */
export async function readAuthority(paths: HostPaths, name: AuthorityName): Promise<KeyPair> {
  const files = authorityPaths(name);
  return {
    certificate: await readFile(paths.at(files.certificate), 'utf8'),
    key: await readFile(paths.at(files.key), 'utf8'),
  };
}

const FIX =
  'Put both files back from a backup ("sno-backup list"): they are below host/ in /var/lib/sno-agents/backups/NAME.';
/** What is in memory is a copy, as are the files of a backup, and only this host opens either. */
const FIX_OF_SEALED =
  'Run "systemctl restart sno-unseal", which writes the files of this host anew from their sealed copies. If it does not help, restore a backup: "sno-backup list", then "sno-backup restore --from NAME".';

/**
 * The same, to sign with it. A rotation that was interrupted may have replaced one of the two files.
 *
 * @throws Failure (fatal) that names the file that is missing, damaged or of another authority; `seal-closed` if the
 * files of a sealed host were not opened at this boot
 */
export async function readSigner(paths: HostPaths, name: AuthorityName): Promise<KeyPair> {
  const files = authorityPaths(name);
  const fix = (await sealKey(paths)) === undefined ? FIX : FIX_OF_SEALED;
  const unusable = (subject: string, found: string) =>
    new Failure('fatal', `the CA ${name} of this host cannot sign`, {
      ...{ subject, expected: 'its certificate and its key', found, fix },
    });
  const read = async <T>(path: string, parse: (text: string) => T) => {
    const text = await readTextIfPresent(paths.at(path));
    if (text === undefined) throw unusable(path, `no such file at ${path}`);
    try {
      return { text, parsed: parse(text) };
    } catch {
      throw unusable(path, `what is neither certificate nor key in PEM at ${path}`);
    }
  };
  // The second time since a rotation may replace both between the two reads.
  for (const _ of [1, 2]) {
    const certificate = await read(files.certificate, (text) => new X509Certificate(text));
    const key = await read(files.key, createPrivateKey);
    if (certificate.parsed.checkPrivateKey(key.parsed)) {
      return { certificate: certificate.text, key: key.text };
    }
  }
  throw unusable(files.key, `the key of another certificate at ${files.key}`);
}

/** A leaf that could not be signed again, and why. */
export const notSigned = ({ name, certificate, authority }: Leaf, cause: unknown): Failure =>
  new Failure('fatal', `${name} could not be signed again`, {
    ...{ code: 'leaf-not-signed', subject: certificate, cause },
    expected: `a certificate by the CA ${authority} in ${certificate}`,
    found: describeError(cause),
    tellsCause: true,
  });
