import { Failure } from '../../base/errors/failure.ts';
import { ChangeSignal } from '../../base/wait/change-signal.ts';
import type { Wait } from '../../base/wait/limits.ts';
import { waitUntil } from '../../base/wait/wait-until.ts';
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
  const finished = new AbortController();
  const changes = new ChangeSignal();
  let hasEvents = true;
  const listen = async () => {
    const limits = { signal: AbortSignal.any([signal, finished.signal]), deadlineMs };
    for await (const _ of runtime.containerEvents(limits)) changes.notify();
  };
  const withoutEvents = () => {
    hasEvents = false;
    changes.notify();
  };
  listen().then(withoutEvents, withoutEvents);
  report(description);
  try {
    return await waitUntil(
      async (left) => {
        const call = { ...left, deadlineMs: Math.min(callDeadlineMs, left.deadlineMs) };
        const seen = await runtime.listContainers(call);
        return predicate(seen) ? { met: seen } : { state: describeContainers(seen) };
      },
      {
        signal,
        deadlineMs,
        everyMs: () => (hasEvents ? Math.max(intervalMs, intervalWithEventsMs) : intervalMs),
        changes,
        late: ({ state }) =>
          new Failure('deadline', `Waited ${deadlineMs / 1000} s for ${description}`, {
            found: state,
          }),
      },
    );
  } finally {
    finished.abort();
  }
}

function describeContainers(containers: readonly Container[]): string {
  const list = containers.map(
    ({ name, attempt, state }) => `${name} (attempt ${attempt}) ${state}`,
  );
  return list.length === 0 ? 'no container' : list.join(', ');
}
