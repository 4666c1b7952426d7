import { readTextIfPresent } from './files.ts';

/** A process by id and start time: an id alone may have been reused. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTicks: string;
}

/** The user of this process: root, except in tests. */
export const ownUser = (): number => process.getuid?.() ?? 0;

export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  const stat = await readTextIfPresent(`/proc/${pid}/stat`).catch(() => undefined);
  // From field 3 on, after the program name, which may contain spaces.
  const [state, ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const startTicks = fields[18];
  return startTicks === undefined || state === 'Z' ? undefined : { pid, startTicks };
}

export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  const found = await identifyProcess(process.pid);
  return found?.startTicks === process.startTicks;
}
