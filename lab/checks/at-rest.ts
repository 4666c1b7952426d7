import { Failure } from '../../lib/base/errors/failure.ts';
import { eventually } from '../eventually.ts';
import { onHost } from '../host/on-host.ts';
import type { RunningCheck, RunningCluster } from './check.ts';

const EXEC_MS = 20_000;
/** An agent that a check has started may be about to end. */
const END_MS = 60_000;
/** The daily backup and the daily renewal. */
const WAKE_UPS = 2;

/** The kubelet is in the same folder. */
const PROCESSES = [
  ...['find', '/proc', '-maxdepth', '2'],
  ...['-name', 'exe', '-lname', '*/bin/sno-agents*'],
];
const TIMERS = [
  ...['systemctl', 'show', 'sno-*.timer'],
  '--property=Id,ActiveState,TimersCalendar,TimersMonotonic',
];

export const atRest: RunningCheck = {
  name: `at rest no process of the agents runs, and ${WAKE_UPS} timers wake the host in a day`,
  run: async (cluster, signal) => {
    await eventually(() => expectNoProcess(cluster, signal), END_MS, signal);
    const timers = wakeUpsOf(await onHost(cluster.host, TIMERS, signal));
    const perDay = Object.values(timers).reduce((sum, count) => sum + count, 0);
    if (perDay === WAKE_UPS) return;
    throw new Failure('fatal', 'other timers wake the host', {
      expected: `${WAKE_UPS} in a day`,
      found: JSON.stringify(timers),
    });
  },
};

async function expectNoProcess(cluster: RunningCluster, signal: AbortSignal): Promise<void> {
  // Processes end while it looks: then find says so and ends with 1.
  const { stdout } = await cluster.host.exec(PROCESSES, { timeoutMs: EXEC_MS }, signal);
  if (stdout.trim() === '') return;
  throw new Failure('fatal', 'processes of the agents run at rest', { found: stdout.trim() });
}

/**
 * How often each active timer elapses in a day, of the output of `systemctl show`; Infinity for one of another kind than
 * "once a day".
 */
export function wakeUpsOf(shown: string): Record<string, number> {
  const found = shown.split('\n\n').flatMap((block): [string, number][] => {
    const id = /^Id=(.+)$/m.exec(block)?.[1];
    if (id === undefined || !/^ActiveState=active$/m.test(block)) return [];
    const specs = block.match(/OnCalendar=[^;]+/g) ?? [];
    const isDaily = specs.every((spec) => /^OnCalendar=\*-\*-\* \d\d:\d\d:\d\d $/.test(spec));
    const others = /^TimersMonotonic=(?=\S)/m.test(block);
    return [[id, isDaily && !others ? specs.length : Number.POSITIVE_INFINITY]];
  });
  return Object.fromEntries(found);
}
