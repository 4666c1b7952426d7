import { readFile } from 'node:fs/promises';
import { Failure } from '../base/errors/failure.ts';
import { KubeClient } from '../clients/kube/client.ts';
import type { Access } from '../clients/kube/kubeconfig.ts';
import type { Cluster } from '../config/cluster/cluster.ts';
import type { HostPaths } from '../host/paths.ts';
import { inspectCertificate } from '../pki/certificate.ts';
import { administrators } from '../pki/kubeconfig.ts';
import { issueLeaf, type LeafProfile } from '../pki/leaf.ts';
import { accessTo } from './access.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Longer than a log bundle takes. */
const LIFETIME_MS = 10 * MINUTE_MS;

/** The name of the agents' administrator in the audit log. */
const ADMINISTRATOR = 'sno-agents:administrator';

/**
 * Access to this host's API by a client certificate that is signed here and valid for ten minutes,
 * or as long as the caller says. Key and certificate exist only in the memory of this process: the host stores no identity for it,
 * only the authority that signs client certificates. `identity` names the user and its only group.
 *
 * @throws Failure (fatal) when that authority is not valid at the host's time.
 */
export async function signedAccess(
  kind: Cluster['controlPlane'],
  paths: HostPaths,
  identity: string,
  lifetimeMs = LIFETIME_MS,
): Promise<Access> {
  return signed(kind, paths, { commonName: identity, organizations: [identity] }, lifetimeMs);
}

/**
 * Runs `use` with a client of the API that has all rights, and closes it. Its certificate is signed
 * like those of signedAccess and is valid a minute longer than `limits`: the API server checks
 * it with every request, also on an open connection.
 */
export async function withSignedAdministrator<T>(
  kind: Cluster['controlPlane'],
  paths: HostPaths,
  limits: { remainingMs(): number },
  use: (client: KubeClient) => Promise<T>,
): Promise<T> {
  const subject = { commonName: ADMINISTRATOR, organizations: [administrators] };
  const lifetimeMs = Math.max(0, limits.remainingMs()) + MINUTE_MS;
  using client = new KubeClient(await signed(kind, paths, subject, lifetimeMs));
  return await use(client);
}

async function signed(
  kind: Cluster['controlPlane'],
  paths: HostPaths,
  subject: LeafProfile['subject'],
  lifetimeMs: number,
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
  const profile = { subject, usage: 'client', lifetimeDays: lifetimeMs / DAY_MS } as const;
  const leaf = await issueLeaf({ certificate, key }, profile, { now, validFrom: now });
  return { server: new URL(paths.endpoints.api ?? gather.server), ca, ...leaf };
}
