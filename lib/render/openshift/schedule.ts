import { setTimeout as sleep } from 'node:timers/promises';

/** Something to run once others have ended. */
export interface Task {
  readonly name: string;
  /** Names of tasks that must have ended. */
  readonly after: ReadonlySet<string>;
}

export interface ScheduleOptions<T extends Task> {
  readonly tasks: readonly T[];
  /** How many run at once. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly run: (task: T, signal: AbortSignal) => Promise<void>;
  /** Told the names of those that run, once that has not changed for a moment. */
  readonly running?: (names: readonly string[], ended: number) => void;
}

const REPORTED_AFTER_MS = 300;

/**
 * Runs each task as soon as those before it have ended, in the given order where there is a choice.
 * After the first failure no other is started, those that run are told to stop, and the failure is
 * thrown when they have ended. Tasks that could never start are a failure too.
 */
export async function runTasks<T extends Task>(options: ScheduleOptions<T>): Promise<void> {
  const { tasks, limit, run, running = () => {} } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const ended = new Set<string>();
  const open = new Map<string, Promise<void>>();
  const waiting = [...tasks];
  const failures: unknown[] = [];

  const start = (task: T) => {
    const work = run(task, signal).then(
      () => {
        ended.add(task.name);
      },
      (error: unknown) => {
        failures.push(error);
        stop.abort(error);
      },
    );
    open.set(
      task.name,
      work.finally(() => open.delete(task.name)),
    );
  };

  for (;;) {
    while (!signal.aborted && open.size < limit) {
      const next = waiting.findIndex(({ after }) => [...after].every((name) => ended.has(name)));
      const [task] = next === -1 ? [] : waiting.splice(next, 1);
      if (task === undefined) break;
      start(task);
    }
    if (open.size === 0) break;
    // Each report costs processes, which short tasks would wait for.
    const change = new AbortController();
    sleep(REPORTED_AFTER_MS, undefined, { signal: change.signal }).then(
      () => running([...open.keys()], ended.size),
      () => undefined,
    );
    await Promise.race(open.values());
    change.abort();
  }

  // Its reason says more than the failures that it caused.
  options.signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  if (waiting.length > 0) {
    throw new Error(`never ready: ${waiting.map(({ name }) => name).join(', ')}`);
  }
}
