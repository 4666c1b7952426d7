import { Failure } from '../../lib/base/errors/failure.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { withoutCertificates } from '../../lib/pki/certificate.ts';
import { renewLeaf } from '../../lib/pki/leaf.ts';
import { leafCatalogue } from '../../lib/render/kubernetes/leaves.ts';
import { writeKeptFiles } from '../../lib/secrets/seal/files.ts';
import type { HostContext } from './host-context.ts';
import { dueLeaves, isValid, type LeafOnDisk, notSigned, readSigner } from './leaf-files.ts';

/**
 * Renews every leaf certificate that has expired, or is in the last third of its lifetime, with
 * the CA on the disk: same key, subject and names, new dates. Otherwise a kubelet whose
 * certificate expired while the host was off would not start at all.
 *
 * While the clock is so wrong that a CA is not valid, its leaves are left as they are and the kubelet
 * starts nevertheless: nothing else would start it once the clock is set, which starts sno-renew. So are those of a
 * CA that cannot sign: most are still valid, and a rotation that was interrupted needs the API to go on.
 */
export const signExpired: StepBody<HostContext> = {
  name: 'sign-expired',
  leaves: 'no certificate of the control plane that has expired, unless its CA is not valid',
  touches: ['disk', 'clock'],
  retries: true,
  input: () => leafCatalogue,
  async holds({ paths }) {
    const now = new Date();
    const due = await dueLeaves(paths, leafCatalogue, now);
    return (await byAuthority(paths, due, now)).signable.length === 0;
  },
  async run({ paths }, progress) {
    const now = new Date();
    const due = await dueLeaves(paths, leafCatalogue, now);
    const { signable, early, unusable } = await byAuthority(paths, due, now);
    if (early.length > 0) {
      progress.warn(
        `The clock shows ${now.toISOString()}, when the CAs of ${early.join(', ')} are not valid: they were not signed again. Check the host's clock; once it is set, sno-renew signs what is due`,
      );
    }
    for (const why of unusable) progress.warn(why);
    for (const found of signable) {
      await signAllExpired(paths, found, now);
      progress.say(`Signed ${found.leaf.name} again`);
    }
    return done(signable.length === 0 ? 'none was due' : `${signable.length} signed again`);
  },
};

interface ByAuthority {
  readonly signable: LeafOnDisk[];
  /** Names of those whose authority is not valid by the clock. */
  readonly early: string[];
  /** Why others cannot be signed. */
  readonly unusable: string[];
}

async function byAuthority(
  paths: HostPaths,
  leaves: readonly LeafOnDisk[],
  now: Date,
): Promise<ByAuthority> {
  const found: ByAuthority = { signable: [], early: [], unusable: [] };
  for (const one of leaves) {
    try {
      const { certificate } = await readSigner(paths, one.leaf.authority);
      if (isValid(certificate, now)) found.signable.push(one);
      else found.early.push(one.leaf.name);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      found.unusable.push(`${one.leaf.name} was not signed again: ${error.message}`);
    }
  }
  return found;
}

/** Renews a leaf in its file, which may also have its key. @throws Failure (fatal) that names the file */
export async function signAllExpired(
  paths: HostPaths,
  { leaf, path, pem }: LeafOnDisk,
  now: Date,
): Promise<void> {
  const renewed = readSigner(paths, leaf.authority).then((signer) => renewLeaf(pem, signer, now));
  const certificate = await renewed.catch((cause: unknown) => {
    throw notSigned(leaf, cause);
  });
  const isPair = leaf.certificate === leaf.key;
  const contents = isPair ? `${certificate}${withoutCertificates(pem)}` : certificate;
  await writeKeptFiles(paths, [
    { path: paths.onHost(path), contents, mode: isPair ? 0o600 : 0o644 },
  ]);
}
