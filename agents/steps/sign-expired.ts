import { readFile, realpath } from 'node:fs/promises';
import { isMissing, writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { needsRenewal, renewLeaf } from '../../lib/pki/leaf.ts';
import { authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import { type Leaf, leafCatalogue } from '../../lib/render/kubernetes/leaves.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from './host-context.ts';

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
  holds: async ({ paths }) => (await expiring(paths, new Date())).length === 0,
  async run({ paths }, progress) {
    const now = new Date();
    const leaves = await expiring(paths, now);
    for (const { leaf, path, pem } of leaves) {
      await signAgain(paths, leaf, path, pem, now);
      progress.say(`Signed ${leaf.name} again`);
    }
    return done(leaves.length === 0 ? 'none was due' : `${leaves.length} signed again`);
  },
};

/** In a file with certificates and their key. */
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----\n?/g;

interface ExpiringLeaf {
  readonly leaf: Leaf;
  /** The resolved path: the kubelet's is reached through a link that must be kept. */
  readonly path: string;
  readonly pem: string;
}

async function expiring(paths: HostPaths, now: Date): Promise<ExpiringLeaf[]> {
  const found: ExpiringLeaf[] = [];
  for (const leaf of leafCatalogue) {
    try {
      const path = await realpath(paths.at(leaf.certificate));
      const pem = await readFile(path, 'utf8');
      if (needsRenewal(pem, now)) found.push({ leaf, path, pem });
    } catch (error) {
      // The bootstrap's certificates are deleted by the clean-up.
      if (!isMissing(error)) throw error;
    }
  }
  return found;
}

async function signAgain(paths: HostPaths, leaf: Leaf, path: string, pem: string, now: Date) {
  const files = authorityPaths(leaf.authority);
  const authority = {
    certificate: await readFile(paths.at(files.certificate), 'utf8'),
    key: await readFile(paths.at(files.key), 'utf8'),
  };
  const certificate = await renewLeaf(pem, authority, now);
  const isPair = leaf.certificate === leaf.key;
  await writeFileAtomic(
    path,
    isPair ? `${certificate}${pem.replaceAll(CERTIFICATES, '')}` : certificate,
    isPair ? 0o600 : 0o644,
  );
}
