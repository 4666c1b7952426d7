import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentName } from '../../lib/agents/table.ts';
import { readJournal } from '../../lib/steps/journal.ts';
import { intoStep } from './into-step.ts';

export interface Kills {
  /** Steps that were killed: started and not ended according to the journal. */
  readonly inside: readonly string[];
  /** Steps that had ended when their agent was killed, with their duration in seconds. */
  readonly ended: ReadonlyMap<string, number>;
  /** Steps in which no process of the agent was found. */
  readonly late: readonly string[];
  stop(): void;
}

/**
 * Kills the agent once in each step with SIGKILL, as soon as its journal says that the step has
 * started. `agent` is also the argument that identifies its process.
 */
export async function killInEverySteps(rootDir: string, agent: AgentName): Promise<Kills> {
  const folder = join(rootDir, 'var/lib/sno-agents', agent);
  await mkdir(folder, { recursive: true });
  const killed = new Set<string>();
  const inside: string[] = [];
  const ended = new Map<string, number>();
  const late: string[] = [];
  let busy = false;
  /** The journal has changed since it was read. */
  let changed = false;
  let known: number | undefined;
  const killOnce = async () => {
    const last = (await readJournal(join(folder, 'journal.jsonl'))).at(-1);
    if (last?.event !== 'started') return;
    if (killed.has(last.step)) {
      // The restarted process: looked up now, so that the next kill is in time.
      known = await processOf(agent);
      return;
    }
    killed.add(last.step);
    await intoStep(agent, last.step);
    const pid = known ?? (await processOf(agent));
    known = undefined;
    const isHit = pid !== undefined && kill(pid);
    const entries = await readJournal(join(folder, 'journal.jsonl'));
    // After the last step the journal is deleted.
    const end = entries.findLast(({ step }) => step === last.step);
    if (!isHit) late.push(last.step);
    else if (end === undefined || end.event === 'started') inside.push(last.step);
    else ended.set(last.step, end.seconds ?? Number.POSITIVE_INFINITY);
  };
  const look = async () => {
    changed = true;
    if (busy) return;
    busy = true;
    try {
      while (changed) {
        changed = false;
        await killOnce();
      }
    } finally {
      busy = false;
    }
  };
  const watcher: FSWatcher = watch(folder, () => void look());
  await look();
  return { inside, ended, late, stop: () => watcher.close() };
}

/** Whether the process was still there. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/**
 * The agent's process; the lab's PID namespace contains no other hosts'. The newest process first:
 * a step may take only milliseconds.
 */
async function processOf(agent: string): Promise<number | undefined> {
  const all = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  for (const pid of all.toSorted((a, b) => b - a)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.startsWith(`/var/lib/sno-agents/bin/sno-agents\0${agent}\0`)) return pid;
  }
  return undefined;
}
