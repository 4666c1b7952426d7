import { readFile } from 'node:fs/promises';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { withoutCertificates } from '../../lib/pki/certificate.ts';
import { renewLeaf } from '../../lib/pki/leaf.ts';
import { authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import { leafCatalogue } from '../../lib/render/kubernetes/leaves.ts';
import { writeKeptFiles } from '../../lib/secrets/seal/files.ts';
import type { HostContext } from './host-context.ts';
import { dueLeaves, isValid, type LeafOnDisk, readAuthority } from './leaf-files.ts';

/**
 * Renews every leaf certificate that has expired, or is in the last third of its lifetime, with
 * the CA on the disk: same key, subject and names, new dates. Otherwise a kubelet whose
 * certificate expired while the host was off would not start at all.
 *
 * While the clock is so wrong that a CA is not valid, its leaves are left as they are and the kubelet
 * starts nevertheless: nothing else would start it once the clock is set, which starts sno-renew.
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
    return (await withValidAuthority(paths, due, now)).length === 0;
  },
  async run({ paths }, progress) {
    const now = new Date();
    const due = await dueLeaves(paths, leafCatalogue, now);
    const leaves = await withValidAuthority(paths, due, now);
    const others = due.filter((found) => !leaves.includes(found)).map(({ leaf }) => leaf.name);
    if (others.length > 0) {
      progress.warn(
        `The clock shows ${now.toISOString()}, when the CAs of ${others.join(', ')} are not valid: they were not signed again. Check the host's clock; once it is set, sno-renew signs what is due`,
      );
    }
    for (const found of leaves) {
      await signAllExpired(paths, found, now);
      progress.say(`Signed ${found.leaf.name} again`);
    }
    return done(leaves.length === 0 ? 'none was due' : `${leaves.length} signed again`);
  },
};

async function withValidAuthority(
  paths: HostPaths,
  leaves: readonly LeafOnDisk[],
  now: Date,
): Promise<LeafOnDisk[]> {
  const found: LeafOnDisk[] = [];
  for (const one of leaves) {
    const { certificate } = authorityPaths(one.leaf.authority);
    if (isValid(await readFile(paths.at(certificate), 'utf8'), now)) found.push(one);
  }
  return found;
}

/** Renews a leaf in its file, which may also have its key. @throws Failure as renewLeaf. */
export async function signAllExpired(
  paths: HostPaths,
  { leaf, path, pem }: LeafOnDisk,
  now: Date,
): Promise<void> {
  const certificate = await renewLeaf(pem, await readAuthority(paths, leaf.authority), now);
  const isPair = leaf.certificate === leaf.key;
  const contents = isPair ? `${certificate}${withoutCertificates(pem)}` : certificate;
  await writeKeptFiles(paths, [
    { path: paths.onHost(path), contents, mode: isPair ? 0o600 : 0o644 },
  ]);
}
