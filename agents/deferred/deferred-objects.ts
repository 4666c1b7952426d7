import { deferredStatus } from '../../lib/deferred/access.ts';
import type { DeferredManifest } from '../../lib/deferred/manifests.ts';
import { describeError } from '../../lib/errors/failure.ts';
import { removeFile } from '../../lib/host/files.ts';
import type { Attempt } from '../../lib/kube/apply-one.ts';
import type { KubeClient } from '../../lib/kube/client.ts';
import { isKubeError } from '../../lib/kube/kube-error.ts';
import type { Manifest } from '../../lib/kube/manifest-decoding.ts';
import type { Progress } from '../../lib/steps/progress.ts';
import { REQUEST_DEADLINE_MS } from '../steps/request-deadline.ts';
import {
  isApplied,
  notTried,
  type ObjectState,
  stateAfter,
  stateAtExpiry,
} from './object-state.ts';
import { readStatusEntries, type StatusEntries, writeStatusEntries } from './status-entries.ts';

/**
 * The deferred manifests of a run and what became of each. An applied one is written
 * down in the API before its file goes: killed in between, the next run sees by the
 * entry that it must not make the object again, which may have been deleted since.
 */
export class DeferredObjects {
  readonly #client: KubeClient;
  readonly #progress: Progress;
  readonly #manifests: readonly DeferredManifest[];
  readonly #states = new Map<string, ObjectState>();
  /** Keys whose states the API does not have yet. */
  readonly #unpublished = new Set<string>();

  constructor(client: KubeClient, manifests: readonly DeferredManifest[], progress: Progress) {
    this.#client = client;
    this.#manifests = manifests;
    this.#progress = progress;
  }

  /** Takes up what an earlier run wrote down; the API has to be ready. */
  async load(): Promise<void> {
    const entries = await this.#read();
    for (const { key } of this.#manifests) {
      const known = entries[key];
      this.#states.set(key, known ?? notTried);
      if (known === undefined) this.#unpublished.add(key);
    }
    await this.publish('ready');
  }

  /** Those that are not applied. */
  open(): Manifest[] {
    return this.#manifests
      .filter(({ key }) => !isApplied(this.#stateOf(key)))
      .map(({ manifest }) => manifest);
  }

  async attempted(manifest: Manifest, attempt: Attempt): Promise<void> {
    const deferred = this.#manifests.find((each) => each.manifest === manifest);
    if (deferred === undefined) return;
    this.#set(deferred, stateAfter(attempt, manifest, new Date()));
    await this.publish();
  }

  /** Gives up what still waits. */
  async expire(): Promise<void> {
    for (const deferred of this.#manifests) {
      this.#set(deferred, stateAtExpiry(this.#stateOf(deferred.key), new Date()));
    }
    await this.publish();
  }

  /** The states of those for which `select` says yes, a phrase each. */
  phrases(select: (state: ObjectState) => boolean): string[] {
    return this.#manifests
      .filter(({ key }) => select(this.#stateOf(key)))
      .map(({ key, manifest }) => `${describe(manifest)} ${this.#stateOf(key)}`);
  }

  /** Whether the API has everything; the files of what is applied are gone then. */
  get isPublished(): boolean {
    return this.#unpublished.size === 0;
  }

  /**
   * Writes down what is new, then removes the files of what is applied. What the API does
   * not take is kept for the next time. Of one that is ready (and no longer refuses what it
   * does not know yet) a refusal is final: the right was revoked.
   */
  async publish(api: 'ready' | 'unknown' = 'unknown'): Promise<void> {
    const entries = [...this.#unpublished].map((key) => [key, this.#stateOf(key)]);
    try {
      if (entries.length > 0) await this.#write(Object.fromEntries(entries));
    } catch (error) {
      if (!isKubeError(error)) throw error;
      this.#progress.warn(`The status is not written: ${describeError(error)}`);
      if (error.kind !== 'rejected' || api !== 'ready') return;
    }
    this.#unpublished.clear();
    for (const { key, path } of this.#manifests) {
      if (isApplied(this.#stateOf(key))) await removeFile(path);
    }
  }

  async #read(): Promise<StatusEntries> {
    try {
      return await readStatusEntries(this.#client, this.#limits());
    } catch (error) {
      if (!isKubeError(error, 'rejected')) throw error;
      this.#progress.warn(`The status cannot be read: ${describeError(error)}`);
      return {};
    }
  }

  async #write(entries: StatusEntries): Promise<void> {
    if (await writeStatusEntries(this.#client, entries, this.#limits())) return;
    const { namespace, name } = deferredStatus;
    this.#progress.warn(`The status is not written: ${namespace}/${name} was deleted`);
  }

  #set({ key, manifest }: DeferredManifest, state: ObjectState): void {
    if (state === this.#states.get(key)) return;
    this.#states.set(key, state);
    this.#unpublished.add(key);
    this.#progress.say(`${describe(manifest)}: ${state}`);
  }

  #stateOf(key: string): ObjectState {
    return this.#states.get(key) ?? notTried;
  }

  #limits() {
    return { signal: this.#progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
  }
}

function describe({ kind, namespace, name }: Manifest): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}
