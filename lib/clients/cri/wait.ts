import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../base/errors/failure.ts';
import type { Wait } from '../../base/wait/limits.ts';
import type { CallLimits } from '../grpc/client.ts';
import type { Container } from './messages.ts';
import type { ContainerRuntime } from './runtime.ts';

export interface ContainerWait extends Wait {
  /** What is waited for, following "waiting for": `kube-apiserver to stop`. */
  description: string;
  /** How often to list if the runtime has no events. Default one second. */
  intervalMs?: number;
}

/** With events, listing only catches changes from before the stream was open. */
const intervalWithEventsMs = 5000;
const callDeadlineMs = 10_000;

/**
 * Waits until the list of all containers satisfies the predicate, and returns that
 * list. Checks at each event of the runtime, or at intervals if it has no events.
 * @throws Failure (deadline) with the containers as last seen.
 */
export async function waitForContainers(
  runtime: Pick<ContainerRuntime, 'listContainers' | 'containerEvents'>,
  predicate: (containers: readonly Container[]) => boolean,
  { description, signal, deadlineMs, intervalMs = 1000, report }: ContainerWait,
): Promise<Container[]> {
  const deadline = AbortSignal.timeout(deadlineMs);
  const finished = new AbortController();
  const limits = { signal: AbortSignal.any([signal, deadline, finished.signal]), deadlineMs };
  const events = new EventBell(runtime, limits);
  let seen: Container[] | undefined;
  report(description);
  try {
    for (;;) {
      seen = await runtime.listContainers({ ...limits, deadlineMs: callDeadlineMs });
      if (predicate(seen)) return seen;
      await events.next(events.supported ? Math.max(intervalMs, intervalWithEventsMs) : intervalMs);
    }
  } catch (error) {
    if (!deadline.aborted || signal.aborted) throw error;
    throw new Failure('deadline', `Waited ${deadlineMs / 1000} s for ${description}`, {
      found: describeContainers(seen ?? []),
    });
  } finally {
    finished.abort();
  }
}

/** Rings at each event; stays silent if the runtime has no events or ends the stream. */
class EventBell {
  supported = true;
  readonly #signal: AbortSignal;
  #rang = Promise.withResolvers<void>();

  constructor(runtime: Pick<ContainerRuntime, 'containerEvents'>, limits: CallLimits) {
    this.#signal = limits.signal;
    this.#listen(runtime, limits).catch(() => {
      this.supported = false;
      this.#rang.resolve();
    });
  }

  /** Returns at the next event, or at once if one is pending, or after `timeoutMs`. */
  async next(timeoutMs: number): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([this.#signal, over.signal]);
    try {
      await Promise.race([this.#rang.promise, sleep(timeoutMs, undefined, { signal })]);
    } catch (error) {
      throw this.#signal.aborted ? this.#signal.reason : error;
    } finally {
      over.abort();
    }
    this.#rang = Promise.withResolvers<void>();
  }

  async #listen(runtime: Pick<ContainerRuntime, 'containerEvents'>, limits: CallLimits) {
    for await (const _ of runtime.containerEvents(limits)) this.#rang.resolve();
    this.supported = false;
  }
}

function describeContainers(containers: readonly Container[]): string {
  const list = containers.map(
    ({ name, attempt, state }) => `${name} (attempt ${attempt}) ${state}`,
  );
  return list.length === 0 ? 'no container' : list.join(', ');
}
