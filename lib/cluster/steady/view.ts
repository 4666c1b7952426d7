import { setTimeout as sleep } from 'node:timers/promises';
import { ChangeSignal } from '../../base/wait/change-signal.ts';
import { whyNotReady } from '../../clients/kube/api-ready.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import { Discovery } from '../../clients/kube/discovery.ts';
import { isKubeError } from '../../clients/kube/kube-error.ts';
import { type Around, type SteadyFinding, type SteadyJudgement, unknown } from './finding.ts';
import { type Listed, partsOf, type SteadyPart, type SteadySubject, servedParts } from './parts.ts';

/** Readiness and a scheduled shutdown cannot be watched, and the end of a quiet window is not an event. */
const TICK_MS = 1000;
const LEAST_TICK_MS = 50;
const DISCOVERY_MS = 30_000;
const DISCOVERY_INTERVAL_MS = 15_000;

/** The newest state of everything that the verdict depends on. */
export class SteadyView {
  readonly #client: KubeClient;
  readonly #subject: SteadySubject;
  readonly #signal: AbortSignal;
  readonly #scheduled: () => Promise<SteadyFinding[]>;
  readonly #readinessAsked = new ChangeSignal();
  /** Undefined until the API has said what it serves. */
  #parts: readonly SteadyPart[] | undefined;
  readonly #listed = new Map<string, Listed>();
  #apiProblem: string | undefined = 'has not been asked yet';
  #shutdown: readonly SteadyFinding[] = [];

  constructor(
    client: KubeClient,
    subject: SteadySubject,
    { signal, scheduled }: { signal: AbortSignal; scheduled: () => Promise<SteadyFinding[]> },
  ) {
    this.#client = client;
    this.#subject = subject;
    this.#signal = signal;
    this.#scheduled = scheduled;
  }

  judgement(now: Date): SteadyJudgement {
    if (this.#apiProblem !== undefined) return noFacts(unknown('The API', this.#apiProblem));
    if (this.#parts === undefined)
      return noFacts(unknown('The API', 'has not said what it serves'));
    const listed = this.#parts.map(({ name }) => [name, this.#listed.get(name)] as const);
    const running = new Set(listed.flatMap(([, each]) => [...(each?.runningSinceBoot ?? [])]));
    const around: Around = {
      now,
      bootTime: this.#subject.bootTime,
      runsSinceBoot: (namespace) => running.has(namespace),
    };
    const judged = listed.map(
      ([name, each]) => each?.judge(around) ?? noFacts(unknown(name, 'could not be listed')),
    );
    return {
      findings: [...this.#shutdown, ...judged.flatMap(({ findings }) => findings)],
      facts: judged.flatMap(({ facts }) => facts),
    };
  }

  /**
   * Watches until the signal fires, calling `changed` after each change. What is served is asked again and again: an
   * API server that has just started does not serve the kinds of its CustomResourceDefinitions yet.
   */
  async follow(changed: () => void): Promise<void> {
    const failed = Promise.withResolvers<never>();
    const followed = new Set<string>();
    const discover = async () => {
      for (;;) {
        const served = await this.#served();
        for (const part of served.filter(({ name }) => !followed.has(name))) {
          followed.add(part.name);
          this.#followPart(part, changed).catch(failed.reject);
        }
        this.#parts = [...(this.#parts ?? []).filter(isNoneOf(served)), ...served];
        await sleep(DISCOVERY_INTERVAL_MS, undefined, { signal: this.#signal });
      }
    };
    await Promise.race([discover(), failed.promise]);
  }

  /** Polls readiness until `isOver` returns true; a quiet window that is shorter than a tick ends in time, too. */
  async tick(isOver: () => boolean, windowMs: number): Promise<void> {
    for (;;) {
      const problem = await whyNotReady(this.#client, this.#signal);
      this.#apiProblem = problem === undefined ? undefined : `is not ready: ${problem}`;
      this.#readinessAsked.notify();
      this.#shutdown = await this.#scheduled();
      if (isOver()) return;
      await sleep(Math.min(TICK_MS, Math.max(LEAST_TICK_MS, windowMs)), undefined, {
        signal: this.#signal,
      });
    }
  }

  async #followPart(part: SteadyPart, changed: () => void): Promise<void> {
    for await (const listed of part.follow(this.#client, this.#signal)) {
      if (listed === undefined) this.#listed.delete(part.name);
      else this.#listed.set(part.name, listed);
      changed();
    }
  }

  async #served(): Promise<SteadyPart[]> {
    const parts = partsOf(this.#subject);
    for (;;) {
      if (this.#apiProblem !== undefined) {
        await this.#readinessAsked.next(this.#signal);
        continue;
      }
      const served = await this.#ask(parts);
      if (served !== undefined) return served;
      await sleep(TICK_MS, undefined, { signal: this.#signal });
    }
  }

  /** Undefined if the API does not answer. */
  async #ask(parts: readonly SteadyPart[]): Promise<SteadyPart[] | undefined> {
    try {
      const limits = { signal: this.#signal, deadlineMs: DISCOVERY_MS };
      return await servedParts(parts, new Discovery(this.#client), limits);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (!isKubeError(error)) throw error;
      return undefined;
    }
  }
}

const isNoneOf =
  (parts: readonly SteadyPart[]) =>
  ({ name }: SteadyPart): boolean =>
    !parts.some((part) => part.name === name);

const noFacts = (finding: SteadyFinding): SteadyJudgement => ({ findings: [finding], facts: [] });
