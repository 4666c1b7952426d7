import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import type { Wait } from '../../base/wait/limits.ts';
import { type ApplyAttempt, applyOne } from './apply-one.ts';
import { faultRow, type ManifestRow, manifestRow } from './apply-table.ts';
import { backoffMs } from './backoff.ts';
import type { FieldValidation, KubeClient } from './client.ts';
import { Discovery } from './discovery.ts';
import type { Manifest } from './manifest-decoding.ts';
import { inLevels } from './manifest-order.ts';
import type { LoadedManifests } from './manifests.ts';
import { type Conditioned, type Resource, resources } from './resources.ts';
import { watchObjects } from './watch-objects.ts';

export interface ApplyOptions extends Wait {
  /**
   * What happens to fields that the API does not know. `Strict` by default; `Warn` for manifests of a
   * release, which nobody here can correct.
   */
  readonly fieldValidation?: (manifest: Manifest) => FieldValidation;
  /** Requests under way at once. */
  readonly concurrency: number;
  /** Called when an attempt ends differently from the one before; applying waits until it returns. */
  readonly attempted?: (manifest: Manifest, attempt: ApplyAttempt) => Promise<void>;
  /** Short by default, as a bootstrap needs them. */
  readonly longestPauses?: LongestPauses;
}

/** How long the pauses between attempts may grow; they start at 0.1 s and double. */
export interface LongestPauses {
  /** While the kind is not served; a changed definition ends the pause. */
  readonly unservedMs: number;
  /** While the API refuses it for now. */
  readonly refusedMs: number;
}

/** Longer than the longest timeout of a webhook. */
const requestMs = 35_000;
const bootstrapPauses: LongestPauses = { unservedMs: 1000, refusedMs: 5000 };

/**
 * Creates every missing manifest, level by level, and leaves existing objects
 * unchanged. What waits for a definition, a namespace or a server that is starting
 * is retried until the deadline and blocks nothing else.
 * One row for each manifest and fault; throws only when the signal fires.
 */
export async function applyManifests(
  client: KubeClient,
  { manifests, faults }: LoadedManifests,
  options: ApplyOptions,
): Promise<ManifestRow[]> {
  const ended = new AbortController();
  const work = new ManifestWork(client, manifests, options);
  // A kind is served by its definition, or by an API server behind this one.
  const { customResourceDefinitions, apiServices } = resources;
  const followed = [customResourceDefinitions, apiServices].map((resource) =>
    followChanges(client, resource, ended.signal, (wasAway) => work.servedKindsChanged(wasAway)),
  );
  try {
    await Promise.race([work.run(), ...followed]);
    return [...faults.map(faultRow), ...work.rows()];
  } finally {
    ended.abort();
  }
}

/** Calls `changed` after each change; with true if the API had not responded before. */
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
  /** Failed attempts since the last change that may help it: its pauses grow with them. */
  failures: number;
  last: ApplyAttempt | undefined;
  /** Of all attempts. */
  readonly warnings: Set<string>;
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
      warnings: new Set(),
      notBefore: -Infinity,
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

  /** Retries at once what waits for a definition; everything if the API had been away. */
  servedKindsChanged(wasAway: boolean): void {
    for (const item of this.#open()) {
      if (!wasAway && item.last?.kind !== 'unserved') continue;
      item.notBefore = -Infinity;
      item.failures = 0;
    }
    this.#wake();
  }

  rows(): ManifestRow[] {
    return this.#items.map(({ manifest, attempts, last, warnings }) => {
      if (last === undefined) return manifestRow(manifest, 'timed out', 'not attempted', attempts);
      const reason = 'reason' in last ? last.reason : '';
      const outcome = last.kind === 'waits' ? 'timed out' : last.kind;
      return manifestRow(manifest, outcome, reason, attempts, [...warnings]);
    });
  }

  async #round(due: readonly Item[]): Promise<void> {
    const missing = due.filter(({ last }) => last?.kind === 'unserved');
    for (const { manifest } of missing) this.#discovery.forget(manifest.apiVersion);
    const levels = inLevels(due.map((item) => ({ ...kindOf(item), item })));
    for (const level of levels) {
      await pMap(level, ({ item }) => this.#attempt(item), {
        concurrency: this.#options.concurrency,
      });
    }
  }

  async #attempt(item: Item): Promise<void> {
    const left = this.#leftMs();
    if (left <= 0) return;
    const { signal } = this.#options;
    const fieldValidation = this.#options.fieldValidation?.(item.manifest) ?? 'Strict';
    const limits = { signal, deadlineMs: Math.min(requestMs, left), fieldValidation };
    item.attempts++;
    item.failures++;
    const attempt = await applyOne(this.#client, this.#discovery, item.manifest, limits);
    for (const warning of attempt.warnings ?? []) item.warnings.add(warning);
    // An attempt cut off by the deadline says nothing: the reason is that of the attempt before.
    const isCut = this.#leftMs() <= 0 && isOpen(attempt);
    const last = isCut ? (item.last ?? attempt) : attempt;
    const isNews = !isDeepStrictEqual(item.last, last);
    item.last = last;
    item.notBefore = performance.now() + this.#pauseMs(attempt, item.failures);
    if (isNews) await this.#options.attempted?.(item.manifest, last);
  }

  /** Before the next attempt, which only an unserved or waiting manifest gets. */
  #pauseMs(attempt: ApplyAttempt, failures: number): number {
    const { unservedMs, refusedMs } = this.#options.longestPauses ?? bootstrapPauses;
    return attempt.kind === 'waits'
      ? backoffMs(failures, attempt.retryAfterMs, refusedMs)
      : backoffMs(failures, undefined, unservedMs);
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
    const left = open.length === 0 ? '' : `, ${open.length} waiting${first}`;
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

function isOpen({ kind }: ApplyAttempt): boolean {
  return kind === 'waits' || kind === 'unserved';
}

function kindOf({ manifest: { apiVersion, kind } }: Item) {
  return { apiVersion, kind };
}
