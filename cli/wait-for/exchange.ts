import { realpath } from 'node:fs/promises';
import { z } from 'zod';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import type { Limits } from '../../lib/base/wait/limits.ts';
import {
  ADMINISTRATORS_GROUP,
  recordReplacedLaptopCa,
} from '../../lib/clients/kube/administrators.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { requestClientCertificate } from '../../lib/clients/kube/client-certificate.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import type { Access } from '../../lib/clients/kube/kubeconfig.ts';
import { publishedRootCa, publishedRootCaWithin } from '../../lib/clients/kube/root-ca.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import type { KeyPair } from '../../lib/pki/authority.ts';
import { inspectCertificate } from '../../lib/pki/certificate.ts';
import { readPersonsKubeconfig } from '../kubeconfig/read-kubeconfig.ts';
import { readText, type Standing, standingOf, withCredentials } from './own-kubeconfig.ts';

/** As the first one has it, in a group that the cluster's signer admits. */
const SUBJECT = { commonName: 'system:admin', organizations: [ADMINISTRATORS_GROUP] };
const REQUEST_MS = 30_000;

export interface ExchangeOptions {
  readonly signal: AbortSignal;
  /** How long the cluster may take to sign the certificate. */
  readonly signingMs: number;
  /** How long it may take to publish the authority of the API server. */
  readonly publishedMs: number;
  readonly now: () => Date;
  /** Says what happened. */
  readonly say: (line: string) => void;
  /** Gets the new kubeconfig before the cluster is told that the first one is not needed any more. */
  readonly keep?: (text: string) => Promise<void>;
}

/** The controller-manager signs within seconds, and waits for a Lease after a restart. */
export const EXCHANGE_TIMES = { signingMs: 120_000, publishedMs: 120_000 } as const;

/**
 * Replaces the administrator that `sno create` signed in a kubeconfig by one that the host's own CA
 * signed, and records that in the cluster, so that the host stops trusting the laptop's CA. Renews it
 * in the last third of its lifetime. Hands over the host's own serving CA with it, also a later one:
 * each run takes the one that the cluster publishes. A kubeconfig that is not one of `sno` is kept. The file is
 * replaced once the new certificate was tried; killed at any moment, the next run completes the rest.
 *
 * @throws Failure (retry) `kubeconfig-not-exchanged`; then the file is as it was, or is complete and
 *   the cluster lacks the record.
 */
export async function exchangeKubeconfig(path: string, options: ExchangeOptions): Promise<void> {
  try {
    await exchange(path, options);
  } catch (cause) {
    options.signal.throwIfAborted();
    throw new Failure('retry', `the installation is complete, and ${path} was not exchanged`, {
      code: 'kubeconfig-not-exchanged',
      subject: path,
      found: describeError(cause),
      fix: 'It can still be used. Run this command again.',
      cause,
      tellsCause: true,
    });
  }
}

async function exchange(path: string, options: ExchangeOptions): Promise<void> {
  const { signal, signingMs, publishedMs, now, say, keep } = options;
  const text = await readText(path);
  const access = await readPersonsKubeconfig(path, { signal });
  const standing = standingOf(text, now());
  if (standing.kind === 'foreign') {
    say(`${path} is not one that sno created: it is not exchanged, and not renewed`);
    return;
  }
  const limits = { signal, deadlineMs: REQUEST_MS };
  using old = new KubeClient(access);
  if (standing.kind === 'exchanged' && !standing.isDue) {
    await recordReplacedLaptopCa(old, now(), limits);
    say(`${path} was exchanged: ${validity(standing)}`);
    await takeOverCa(path, text, access, await publishedRootCa(old, limits), options);
    return;
  }
  // First: nothing is signed that would not be used.
  const report = (state: string) => say(`Waiting for the authority of the API server: ${state}`);
  const published = await publishedRootCaWithin(old, { signal, deadlineMs: publishedMs }, report);
  const signed = await requestClientCertificate(old, SUBJECT, { signal, deadlineMs: signingMs });
  const ca = await tried(access, published, signed, limits);
  await writeFileAtomic(await realpath(path), withCredentials(text, ca, signed), 0o600);
  const written = await readText(path);
  await keep?.(written);
  const fresh = standingOf(written, now());
  say(`Exchanged ${path}: its certificate is signed by the host's CA, ${validity(fresh)}`);
  using client = new KubeClient({ ...access, ...signed, ca });
  await recordReplacedLaptopCa(client, now(), limits);
  if (standing.kind === 'first') for (const line of AFTERWARDS) say(line);
}

/** The CA of the API server in a kubeconfig that is otherwise kept; nothing if it has that already. */
async function takeOverCa(
  path: string,
  text: string,
  access: Access,
  published: string | undefined,
  { signal, say, keep }: ExchangeOptions,
): Promise<void> {
  const { certificate, key } = access;
  if (certificate === undefined || key === undefined || published === access.ca) return;
  const pair = { certificate, key };
  const ca = await tried(access, published, pair, { signal, deadlineMs: REQUEST_MS });
  if (ca === access.ca) return;
  const changed = withCredentials(text, ca, pair);
  await writeFileAtomic(await realpath(path), changed, 0o600);
  await keep?.(changed);
  say(`${path} has the present CA of the API server`);
}

const AFTERWARDS = [
  'Within a day the host refuses the previous one; at once after "systemctl start sno-renew" on it',
  'Destroy what the host was installed from, which has the pull secret and the key that copies of the previous kubeconfig trust: the Ignition config, media and copies of them',
];

function validity(standing: Standing): string {
  if (standing.kind !== 'exchanged') return 'not known how long it is valid';
  const { notAfter, renewableFrom } = standing;
  return `valid until ${day(notAfter)}; from ${day(renewableFrom)}, this command renews it`;
}

const day = (date: Date) => date.toISOString().slice(0, 10);

/**
 * Uses the new certificate as kubectl will, with the published CA if the server can be verified with
 * it. Returns the CA that was used.
 */
async function tried(
  access: Access,
  published: string | undefined,
  { certificate, key }: KeyPair,
  limits: Limits,
): Promise<string> {
  const attempt = async (ca: string): Promise<string> => {
    using client = new KubeClient({ server: access.server, ca, certificate, key });
    await requireAdministrator(client, certificate, limits);
    return ca;
  };
  if (published === undefined) return attempt(access.ca);
  try {
    return await attempt(published);
  } catch (error) {
    if (!isKubeError(error, 'unreachable')) throw error;
    return attempt(access.ca);
  }
}

const userSchema = z.object({
  status: z.object({
    userInfo: z.object({ username: z.string(), groups: z.array(z.string()).optional() }),
  }),
});
const accessSchema = z.object({ status: z.object({ allowed: z.boolean() }) });

/** The API server knows its name and group, and that may do everything. */
async function requireAdministrator(
  client: KubeClient,
  certificate: string,
  limits: Limits,
): Promise<void> {
  const { commonName } = inspectCertificate(certificate).subject;
  const review = async <T>(schema: z.ZodType<T>, group: string, kind: string, spec: object) =>
    client.answer(
      schema,
      {
        method: 'POST',
        path: `/apis/${group}/v1/${kind.toLowerCase()}s`,
        body: { apiVersion: `${group}/v1`, kind, ...spec },
      },
      limits,
    );
  const known = await review(userSchema, 'authentication.k8s.io', 'SelfSubjectReview', {});
  const { username, groups = [] } = known.status.userInfo;
  if (username !== commonName || !groups.includes(ADMINISTRATORS_GROUP)) {
    throw new Failure('fatal', 'the API server knows the new administrator by another name', {
      expected: `${commonName} in the group ${ADMINISTRATORS_GROUP}`,
      found: `${username} in ${groups.join(', ') || 'no group'}`,
    });
  }
  const everything = { group: '*', resource: '*', verb: '*' };
  const spec = { resourceAttributes: everything };
  const allowed = await review(accessSchema, 'authorization.k8s.io', 'SelfSubjectAccessReview', {
    spec,
  });
  if (allowed.status.allowed) return;
  throw new Failure('fatal', 'the new administrator may not do everything', {
    expected: `ClusterRoleBinding ${ADMINISTRATORS_GROUP} to cluster-admin`,
    fix: 'Create it, and run this command again.',
  });
}
