import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Wait } from '../wait/limits.ts';
import { type Attempt, applyOne } from './apply-one.ts';
import { faultRow, type ManifestRow, manifestRow } from './apply-table.ts';
import { backoffMs } from './backoff.ts';
import type { KubeClient } from './client.ts';
import { Discovery } from './discovery.ts';
import { inParallel } from './in-parallel.ts';
import type { Manifest } from './manifest-decoding.ts';
import { inLevels } from './manifest-order.ts';
import type { LoadedManifests } from './manifests.ts';
import { type Conditioned, type Resource, resources } from './resources.ts';
import { watchObjects } from './watch-objects.ts';

export interface ApplyOptions extends Wait {
  /** Requests under way at once. */
  readonly concurrency: number;
  /** Called when an attempt ended otherwise than the one before it; nothing continues until it has returned. */
  readonly attempted?: (manifest: Manifest, attempt: Attempt) => Promise<void>;
  /** By default short ones, as for a bootstrap. */
  readonly longestPauses?: LongestPauses;
}

/** How far pauses between two attempts may grow, which begin at 0.1 s and double. */
export interface LongestPauses {
  /** While its kind is not served; a changed definition ends the pause. */
  readonly unservedMs: number;
  /** While the API refuses it for now. */
  readonly refusedMs: number;
}

/** Longer than the longest time that a webhook may be given. */
const requestMs = 35_000;
const bootstrapPauses: LongestPauses = { unservedMs: 1000, refusedMs: 5000 };

/**
 * Creates every manifest that is missing, level by level, and leaves alone what
 * exists. What waits for a definition, a namespace or a server that is not quite
 * up is tried again until the deadline and holds up nothing else.
 * One row for each manifest and fault; throws only when the signal fires.
 */
export async function applyManifests(
  client: KubeClient,
  { manifests, faults }: LoadedManifests,
  options: ApplyOptions,
): Promise<ManifestRow[]> {
  const ended = new AbortController();
  const work = new ManifestWork(client, manifests, options);
  const signal = AbortSignal.any([options.signal, ended.signal]);
  // A kind comes with its definition, or with the API server that stands behind this one.
  const { customResourceDefinitions, apiServices } = resources;
  const followed = [customResourceDefinitions, apiServices].map((resource) =>
    followChanges(client, resource, signal, (wasAway) => work.servedKindsChanged(wasAway)),
  );
  try {
    await Promise.race([work.run(), ...followed]);
    return [...faults.map(faultRow), ...work.rows()];
  } finally {
    ended.abort();
  }
}

/** Calls `changed` after each change; with true when the API had not answered before. */
async function followChanges(
  client: KubeClient,
  resource: Resource<Conditioned>,
  signal: AbortSignal,
  changed: (wasAway: boolean) => void,
): Promise<void> {
  let isAway = false;
  for await (const { lost } of watchObjects(client, resource, {}, signal)) {
    if (lost === undefined) changed(isAway);
    isAway = lost !== undefined;
  }
}

interface Item {
  readonly manifest: Manifest;
  attempts: number;
  /** Since something changed that may help it: what its pauses grow by. */
  failures: number;
  last: Attempt | undefined;
  /** On the clock of `performance.now()`. */
  notBefore: number;
}

class ManifestWork {
  readonly #client: KubeClient;
  readonly #options: ApplyOptions;
  readonly #discovery: Discovery;
  readonly #items: readonly Item[];
  readonly #endsAt: number;
  #wake = () => {};
  #reported = '';

  constructor(client: KubeClient, manifests: readonly Manifest[], options: ApplyOptions) {
    this.#client = client;
    this.#options = options;
    this.#discovery = new Discovery(client);
    this.#items = manifests.map((manifest) => ({
      manifest,
      attempts: 0,
      failures: 0,
      last: undefined,
      notBefore: 0,
    }));
    this.#endsAt = performance.now() + options.deadlineMs;
  }

  async run(): Promise<void> {
    for (let open = this.#open(); open.length > 0 && this.#leftMs() > 0; open = this.#open()) {
      await this.#round(open.filter(({ notBefore }) => notBefore <= performance.now()));
      this.#report();
      await this.#pause();
    }
  }

  /** Tries at once what waits for a definition; everything, after the API was away. */
  servedKindsChanged(wasAway: boolean): void {
    for (const item of this.#open()) {
      if (!wasAway && item.last?.kind !== 'unserved') continue;
      item.notBefore = 0;
      item.failures = 0;
    }
    this.#wake();
  }

  rows(): ManifestRow[] {
    return this.#items.map(({ manifest, attempts, last }) => {
      if (last === undefined) return manifestRow(manifest, 'timed out', 'not attempted', attempts);
      const reason = 'reason' in last ? last.reason : '';
      const outcome = last.kind === 'waits' ? 'timed out' : last.kind;
      return manifestRow(manifest, outcome, reason, attempts);
    });
  }

  async #round(due: readonly Item[]): Promise<void> {
    const missing = due.filter(({ last }) => last?.kind === 'unserved');
    for (const { manifest } of missing) this.#discovery.forget(manifest.apiVersion);
    const levels = inLevels(due.map((item) => ({ ...kindOf(item), item })));
    for (const level of levels) {
      await inParallel(level, this.#options.concurrency, ({ item }) => this.#attempt(item));
    }
  }

  async #attempt(item: Item): Promise<void> {
    const left = this.#leftMs();
    if (left <= 0) return;
    const { signal } = this.#options;
    const limits = { signal, deadlineMs: Math.min(requestMs, left) };
    item.attempts++;
    item.failures++;
    const before = item.last;
    const attempt = await applyOne(this.#client, this.#discovery, item.manifest, limits);
    // Running out of time is not the reason why it was not applied: the one before is.
    if (this.#leftMs() > 0 || !isOpen(attempt) || item.last === undefined) item.last = attempt;
    item.notBefore = performance.now() + this.#pauseMs(attempt, item.failures);
    if (item.last !== undefined && !isDeepStrictEqual(before, item.last)) {
      await this.#options.attempted?.(item.manifest, item.last);
    }
  }

  #pauseMs(attempt: Attempt, failures: number): number {
    const { unservedMs, refusedMs } = this.#options.longestPauses ?? bootstrapPauses;
    if (attempt.kind === 'unserved') return backoffMs(failures, 0, unservedMs);
    return attempt.kind === 'waits' ? backoffMs(failures, attempt.retryAfterMs, refusedMs) : 0;
  }

  /** Until the next item is due, the definitions change or the time is up. */
  async #pause(): Promise<void> {
    const next = Math.min(this.#endsAt, ...this.#open().map(({ notBefore }) => notBefore));
    const waitMs = next - performance.now();
    if (waitMs <= 0 || this.#open().length === 0) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const { signal } = this.#options;
    const either = AbortSignal.any([signal, woken.signal]);
    await sleep(waitMs, undefined, { signal: either }).catch(() => signal.throwIfAborted());
  }

  #report(): void {
    const open = this.#open();
    const waiting = open[0]?.last;
    const first = waiting !== undefined && 'reason' in waiting ? `: ${waiting.reason}` : '';
    const left = open.length === 0 ? '' : `, ${open.length} wait${first}`;
    const text = `${this.#items.length - open.length} of ${this.#items.length} manifests processed${left}`;
    if (text !== this.#reported) this.#options.report(text);
    this.#reported = text;
  }

  #open(): Item[] {
    return this.#items.filter(({ last }) => last === undefined || isOpen(last));
  }

  #leftMs(): number {
    return this.#endsAt - performance.now();
  }
}

function isOpen({ kind }: Attempt): boolean {
  return kind === 'waits' || kind === 'unserved';
}

function kindOf({ manifest: { apiVersion, kind } }: Item) {
  return { apiVersion, kind };
}
