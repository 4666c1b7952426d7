import { setTimeout as sleep } from 'node:timers/promises';
import { type Attempt, applyOne } from './apply-one.ts';
import { faultRow, type ManifestRow, manifestRow } from './apply-table.ts';
import { backoffMs } from './backoff.ts';
import type { KubeClient } from './client.ts';
import { Discovery } from './discovery.ts';
import { inParallel } from './in-parallel.ts';
import type { Manifest } from './manifest-decoding.ts';
import { inLevels } from './manifest-order.ts';
import type { LoadedManifests } from './manifests.ts';
import { resources } from './resources.ts';
import { watchObjects } from './watch-objects.ts';

export interface ApplyOptions {
  /** Requests under way at once. */
  readonly concurrency: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Called with how far it is and what is waited for, whenever that changes. */
  readonly report: (progress: string) => void;
}

/** Longer than the longest time that a webhook may be given. */
const requestMs = 35_000;
/** Kinds that are not served are looked for at least this often, and when a definition changes. */
const longestUnservedMs = 1000;

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
  const definitions = followDefinitions(
    client,
    AbortSignal.any([options.signal, ended.signal]),
    () => work.definitionsChanged(),
  );
  try {
    await Promise.race([work.run(), definitions]);
    return [...faults.map(faultRow), ...work.rows()];
  } finally {
    ended.abort();
  }
}

async function followDefinitions(client: KubeClient, signal: AbortSignal, changed: () => void) {
  const definitions = resources.customResourceDefinitions;
  for await (const { lost } of watchObjects(client, definitions, {}, signal)) {
    if (lost === undefined) changed();
  }
}

interface Item {
  readonly manifest: Manifest;
  attempts: number;
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

  /** Tries what waits for a definition at once. */
  definitionsChanged(): void {
    for (const item of this.#open()) {
      if (item.last?.kind === 'unserved') item.notBefore = 0;
    }
    this.#wake();
  }

  rows(): ManifestRow[] {
    return this.#items.map(({ manifest, attempts, last }) => {
      if (last === undefined) return manifestRow(manifest, 'timed out', 'was not tried', attempts);
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
    const attempt = await applyOne(this.#client, this.#discovery, item.manifest, limits);
    // Running out of time is not the reason why it was not applied: the one before is.
    if (this.#leftMs() > 0 || !isOpen(attempt) || item.last === undefined) item.last = attempt;
    item.notBefore = performance.now() + pauseMs(attempt, item.attempts);
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
    const text = `${this.#items.length - open.length} of ${this.#items.length} manifests dealt with${left}`;
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

function pauseMs(attempt: Attempt, attempts: number): number {
  if (attempt.kind === 'unserved') return Math.min(longestUnservedMs, backoffMs(attempts));
  return attempt.kind === 'waits' ? backoffMs(attempts, attempt.retryAfterMs) : 0;
}
