import pMap from 'p-map';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { isKubeError } from '../../../lib/clients/kube/kube-error.ts';
import { resourcePath } from '../../../lib/clients/kube/resources.ts';
import { whileTransient } from '../../../lib/clients/kube/while-transient.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import type { RotateContext } from './context.ts';

const SECRETS = { apiVersion: 'v1', plural: 'secrets' } as const;
/** Names only: what is in a Secret is never in the memory of an agent. */
const PARTIAL = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const PAGE = 500;
const CONCURRENCY = 4;

const listSchema = z.object({
  metadata: z.object({ continue: z.string().optional() }),
  items: z.array(z.object({ metadata: z.object({ name: z.string(), namespace: z.string() }) })),
});

interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Has the API server store every Secret again, with its first key. A patch without changes is enough:
 * what is encrypted by another key counts as stale and is written
 * (apiserver/pkg/storage/etcd3/store.go, GuaranteedUpdate). A request that fails for a moment is
 * repeated; what is done stays done.
 */
export async function rewriteSecrets(context: RotateContext, progress: Progress): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([progress.signal, stop.signal]);
  const patience = { signal, longestMs: context.settings.renewProofMs };
  await context.withAdministrator(progress, async (client) => {
    const names = await secretNames(client, patience);
    try {
      await progress.wait(`${names.length} Secrets to be encrypted again`, () =>
        pMap(names, (name) => rewrite(client, name, patience), { concurrency: CONCURRENCY }),
      );
    } finally {
      // After a failure: no others while the phase is undone.
      stop.abort();
    }
    progress.say(`Encrypted ${names.length} Secrets with the new key`);
  });
}

/** Fails if the API server cannot decrypt every Secret. */
export async function readSecrets(context: RotateContext, progress: Progress): Promise<void> {
  const patience = { signal: progress.signal, longestMs: context.settings.renewProofMs };
  await context.withAdministrator(progress, async (client) => {
    const names = await progress.wait('every Secret to be readable', () =>
      secretNames(client, patience),
    );
    progress.say(`${names.length} Secrets are readable`);
  });
}

interface Patience {
  readonly signal: AbortSignal;
  /** How long one request may fail. */
  readonly longestMs: number;
}

async function secretNames(client: KubeClient, patience: Patience): Promise<SecretName[]> {
  const found: SecretName[] = [];
  for (let next: string | undefined; ; ) {
    const page = await secretPage(client, next, patience);
    if (page === 'expired') found.length = 0;
    else found.push(...page.items.map((item) => item.metadata));
    next = page === 'expired' ? undefined : page.metadata.continue || undefined;
    if (page !== 'expired' && next === undefined) return found;
  }
}

/** `expired`: a list that takes longer than etcd keeps its revision must start again. */
async function secretPage(
  client: KubeClient,
  next: string | undefined,
  { signal, longestMs }: Patience,
): Promise<z.infer<typeof listSchema> | 'expired'> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(next ? { continue: next } : {}) });
  const path = `${resourcePath(SECRETS, {})}?${query}`;
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  try {
    return await whileTransient(
      () => client.answer(listSchema, { method: 'GET', path, accept: PARTIAL }, limits),
      { signal, longestMs },
    );
  } catch (error) {
    if (next !== undefined && isKubeError(error, 'expired')) return 'expired';
    throw error;
  }
}

async function rewrite(client: KubeClient, place: SecretName, patience: Patience): Promise<void> {
  const path = resourcePath(SECRETS, place);
  const contentType = 'application/merge-patch+json';
  const accept = PARTIAL.replace('List', '');
  const limits = { signal: patience.signal, deadlineMs: REQUEST_DEADLINE_MS };
  await whileTransient(async () => {
    try {
      await client.json({ method: 'PATCH', path, body: {}, contentType, accept }, limits);
    } catch (error) {
      // Deleted in the meantime.
      if (!isKubeError(error, 'not-found')) throw error;
    }
  }, patience);
}

const tokenSchema = z.object({ status: z.object({ token: z.string() }) });
const reviewSchema = z.object({ status: z.object({ authenticated: z.boolean().optional() }) });

/** Fails unless the API server accepts a service account token that it has just signed. */
export async function acceptOwnToken(context: RotateContext, progress: Progress): Promise<void> {
  const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
  await context.withAdministrator(progress, async (client) => {
    const place = { namespace: 'kube-system', name: 'default', subresource: 'token' };
    const path = resourcePath({ apiVersion: 'v1', plural: 'serviceaccounts' }, place);
    const issue = { method: 'POST', path, body: { spec: {} } } as const;
    const { token } = (await client.answer(tokenSchema, issue, limits)).status;
    const reviews = resourcePath(
      { apiVersion: 'authentication.k8s.io/v1', plural: 'tokenreviews' },
      {},
    );
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
    const review = { method: 'POST', path: reviews, body } as const;
    const { status } = await client.answer(reviewSchema, review, limits);
    if (status.authenticated === true) return;
    throw new Failure('retry', 'the API server does not accept a token that it has signed');
  });
}
