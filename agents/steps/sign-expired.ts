import { writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { withoutCertificates } from '../../lib/pki/certificate.ts';
import { renewLeaf } from '../../lib/pki/leaf.ts';
import { leafCatalogue } from '../../lib/render/kubernetes/leaves.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from './host-context.ts';
import { dueLeaves, type LeafOnDisk, readAuthority } from './leaf-files.ts';

/**
 * Renews every leaf certificate that has expired, or is in the last third of its lifetime, with
 * the CA on the disk: same key, subject and names, new dates. Otherwise a kubelet whose
 * certificate expired while the host was off would not start at all.
 */
export const signExpired: StepBody<HostContext> = {
  name: 'sign-expired',
  leaves: 'no certificate of the control plane that has expired',
  retries: true,
  input: () => leafCatalogue,
  holds: async ({ paths }) => (await dueLeaves(paths, leafCatalogue, new Date())).length === 0,
  async run({ paths }, progress) {
    const now = new Date();
    const leaves = await dueLeaves(paths, leafCatalogue, now);
    for (const found of leaves) {
      await signAgain(paths, found, now);
      progress.say(`Signed ${found.leaf.name} again`);
    }
    return done(leaves.length === 0 ? 'none was due' : `${leaves.length} signed again`);
  },
};

async function signAgain(paths: HostPaths, { leaf, path, pem }: LeafOnDisk, now: Date) {
  const certificate = await renewLeaf(pem, await readAuthority(paths, leaf.authority), now);
  const isPair = leaf.certificate === leaf.key;
  await writeFileAtomic(
    path,
    isPair ? `${certificate}${withoutCertificates(pem)}` : certificate,
    isPair ? 0o600 : 0o644,
  );
}
