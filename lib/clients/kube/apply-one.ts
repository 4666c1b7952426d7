import type { Limits } from '../../base/wait/limits.ts';
import type { Checked, FieldValidation, KubeClient } from './client.ts';
import type { Discovery, ServedKind } from './discovery.ts';
import { isKubeError } from './kube-error.ts';
import { DEFAULT_NAMESPACE, type Manifest } from './manifest-decoding.ts';
import type { KubeObject } from './resources.ts';
import { isExisting, isTransient } from './retry-policy.ts';

/** How one attempt ended. `waits` and `unserved` are retried. */
export type ApplyAttempt = AttemptEnd & {
  /** What the API warned of while it stored the object; absent if of nothing. */
  readonly warnings?: readonly string[];
};

type AttemptEnd =
  | { readonly kind: 'created' }
  | { readonly kind: 'existing' }
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'unserved'; readonly reason: string }
  | { readonly kind: 'waits'; readonly reason: string; readonly retryAfterMs: number | undefined };

/** How long a write may take, and what happens to fields that the API does not know. */
export interface ApplyLimits extends Limits {
  readonly fieldValidation: FieldValidation;
}

/** Creates the object unless it exists; the status is written if the manifest has one and the object has none. */
export async function applyOne(
  client: KubeClient,
  discovery: Discovery,
  manifest: Manifest,
  limits: ApplyLimits,
): Promise<ApplyAttempt> {
  const all = new Set<string>();
  const warned = (warnings: readonly string[]) => {
    for (const warning of warnings) all.add(warning);
  };
  const end = await tryOne(client, discovery, manifest, limits, warned);
  return all.size === 0 ? end : { ...end, warnings: [...all] };
}

async function tryOne(
  client: KubeClient,
  discovery: Discovery,
  manifest: Manifest,
  limits: ApplyLimits,
  warned: Checked['warned'],
): Promise<AttemptEnd> {
  try {
    const served = await discovery.find(manifest, limits);
    if (served === undefined) {
      return {
        kind: 'unserved',
        reason: `the API serves no ${manifest.kind} in ${manifest.apiVersion}`,
      };
    }
    const { live, created } = await createOrFind(client, served, manifest, limits, warned);
    await fillStatus(client, served, manifest, live, limits, warned);
    return { kind: created ? 'created' : 'existing' };
  } catch (error) {
    if (!isKubeError(error)) throw error;
    // The namespace may be missing, or the definition may have been deleted in the meantime.
    if (error.kind === 'not-found') discovery.forget(manifest.apiVersion);
    if (!isTransient(error)) return { kind: 'rejected', reason: error.message };
    return { kind: 'waits', reason: error.message, retryAfterMs: error.retryAfterMs };
  }
}

async function createOrFind(
  client: KubeClient,
  served: ServedKind,
  manifest: Manifest,
  limits: ApplyLimits,
  warned: Checked['warned'],
): Promise<{ live: KubeObject; created: boolean }> {
  const { namespace, name } = placeOf(served, manifest);
  const { fieldValidation } = limits;
  const { resource } = served;
  try {
    const checked = { fieldValidation, warned };
    const live = await client.create(resource, { namespace }, manifest.object, limits, checked);
    return { live, created: true };
  } catch (error) {
    // Validation and admission come before the check for a stored object: an existing
    // object is left unchanged even if it could not be created like this today.
    if (!isExisting(error) && !isKubeError(error, 'rejected')) throw error;
    const live = await client.find(resource, { namespace, name }, limits);
    if (live === undefined) throw error;
    return { live, created: false };
  }
}

async function fillStatus(
  client: KubeClient,
  served: ServedKind,
  manifest: Manifest,
  live: KubeObject,
  limits: Limits,
  warned: Checked['warned'],
): Promise<void> {
  const { status } = manifest.object;
  if (!served.hasStatus || isEmpty(status) || !isEmpty(live.status)) return;
  const place = { ...placeOf(served, manifest), subresource: 'status' };
  // The object exists now: what is wrong with its status is said, and ends nothing.
  const checked = { fieldValidation: 'Warn', warned } as const;
  await client.replace(served.resource, place, { ...live, status }, limits, checked);
}

function placeOf(
  { namespaced }: ServedKind,
  { namespace, name }: Manifest,
): { namespace: string | undefined; name: string } {
  return { namespace: namespaced ? (namespace ?? DEFAULT_NAMESPACE) : undefined, name };
}

function isEmpty(status: unknown): boolean {
  return typeof status !== 'object' || status === null || Object.keys(status).length === 0;
}
