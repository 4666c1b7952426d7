import { describeError } from '../../lib/base/errors/failure.ts';
import type { ApplyAttempt } from '../../lib/clients/kube/apply-one.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { deferredStatus } from '../../lib/clients/rights/deferred.ts';
import type { DeferredManifest } from '../../lib/cluster/deferred/manifests.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { removeFile } from '../../lib/host/files.ts';
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
 * The deferred manifests of a run and the state of each. An applied one is recorded in
 * the API before its file is deleted: after a kill in between, the entry tells the next
 * run not to create the object again, since a user may have deleted it.
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

  /** Resumes the states that an earlier run recorded; the API must be ready. */
  async load(): Promise<void> {
    const entries = await this.#read();
    for (const { key } of this.#manifests) {
      const known = entries[key];
      this.#states.set(key, known ?? notTried);
      if (known === undefined) this.#unpublished.add(key);
    }
    await this.publish({ isReady: true });
  }

  /** The manifests that are not applied yet. */
  open(): Manifest[] {
    return this.#manifests
      .filter(({ key }) => !isApplied(this.#stateOf(key)))
      .map(({ manifest }) => manifest);
  }

  async attempted(manifest: Manifest, attempt: ApplyAttempt): Promise<void> {
    for (const deferred of this.#manifests.filter((each) => each.manifest === manifest)) {
      this.#set(deferred, stateAfter(attempt, manifest, new Date()));
    }
    await this.publish({ isReady: false });
  }

  /** Marks manifests that are still waiting as expired. */
  async expire(): Promise<void> {
    for (const deferred of this.#manifests) {
      this.#set(deferred, stateAtExpiry(this.#stateOf(deferred.key), new Date()));
    }
    await this.publish({ isReady: false });
  }

  /** One phrase for each manifest whose state `select` accepts. */
  phrases(select: (state: ObjectState) => boolean): string[] {
    return this.#manifests
      .filter(({ key }) => select(this.#stateOf(key)))
      .map(({ key, manifest }) => `${describe(manifest)} ${this.#stateOf(key)}`);
  }

  /** Whether the API has all states; by then the files of applied manifests are deleted. */
  get isPublished(): boolean {
    return this.#unpublished.size === 0;
  }

  /**
   * Records new states, then deletes the files of applied manifests. States that the API
   * does not accept are kept for the next time. Once the API is ready (and no longer rejects
   * requests because it is still loading), a rejection is final: the right was revoked.
   */
  async publish({ isReady }: { readonly isReady: boolean }): Promise<void> {
    const entries = [...this.#unpublished].map((key) => [key, this.#stateOf(key)]);
    try {
      if (entries.length > 0) await this.#write(Object.fromEntries(entries));
    } catch (error) {
      if (!isKubeError(error)) throw error;
      this.#progress.warn(`The status ConfigMap cannot be written: ${describeError(error)}`);
      if (error.kind !== 'rejected' || !isReady) return;
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
      this.#progress.warn(`The status ConfigMap cannot be read: ${describeError(error)}`);
      return {};
    }
  }

  async #write(entries: StatusEntries): Promise<void> {
    if (await writeStatusEntries(this.#client, entries, this.#limits())) return;
    const { namespace, name } = deferredStatus;
    this.#progress.warn(`The status ConfigMap cannot be written: ${namespace}/${name} was deleted`);
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
