import { readFile } from 'node:fs/promises';
import type { Cluster } from '../cluster/cluster.ts';
import { Failure } from '../errors/failure.ts';
import type { HostPaths } from '../host/paths.ts';
import type { Access } from '../kube/kubeconfig.ts';
import { inspectCertificate } from '../pki/certificate.ts';
import { issueLeaf } from '../pki/leaf.ts';
import { accessTo } from './access.ts';

/** Ten minutes, which is longer than a log bundle takes. */
const CERTIFICATE_DAYS = 10 / 24 / 60;

/**
 * Access to this host's API by a client certificate that is signed here and valid for ten minutes.
 * Key and certificate exist only in the memory of this process: the host stores no identity for it,
 * only the authority that signs client certificates. `identity` names the user and its only group.
 *
 * @throws Failure (fatal) when that authority is not valid at the host's time.
 */
export async function signedAccess(
  kind: Cluster['controlPlane'],
  paths: HostPaths,
  identity: string,
): Promise<Access> {
  const { gather } = accessTo(kind);
  const read = (path: string) => readFile(paths.at(path), 'utf8');
  const [ca, certificate, key] = await Promise.all([
    read(gather.ca),
    read(gather.signer.certificate),
    read(gather.signer.key),
  ]);
  const now = new Date();
  const { notBefore, notAfter } = inspectCertificate(certificate);
  if (now < notBefore || now > notAfter) {
    throw new Failure('fatal', 'the authority that signs client certificates is not valid now', {
      expected: `a time from ${notBefore.toISOString()} to ${notAfter.toISOString()}`,
      found: now.toISOString(),
      fix: "Check the host's clock.",
    });
  }
  const leaf = await issueLeaf(
    { certificate, key },
    {
      subject: { commonName: identity, organizations: [identity] },
      usage: 'client',
      lifetimeDays: CERTIFICATE_DAYS,
    },
    now,
  );
  return { server: new URL(paths.endpoints.api ?? gather.server), ca, ...leaf };
}
