import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentName } from '../../lib/engine/agents/table.ts';
import { readJournal } from '../../lib/engine/steps/journal.ts';
import { intoStep } from './into-step.ts';

export interface Kills {
  /** Steps that were killed: started and not ended according to the journal. */
  readonly inside: readonly string[];
  /** Steps that had ended when their agent was killed, with their duration in seconds. */
  readonly ended: ReadonlyMap<string, number>;
  /** Steps in which no process of the agent was found. */
  readonly late: ReadonlySet<string>;
  stop(): void;
}

/**
 * Kills the agent once in each step with SIGKILL, as soon as its journal says that the step has
 * started. `agent` is also the argument that identifies its process.
 *
 * @param killed steps that are not killed, such as those of an earlier boot; each step that is killed is added.
 */
export async function killInEverySteps(
  rootDir: string,
  agent: AgentName,
  killed = new Set<string>(),
): Promise<Kills> {
  const folder = join(rootDir, 'var/lib/sno-agents', agent);
  await mkdir(folder, { recursive: true });
  const inside: string[] = [];
  const ended = new Map<string, number>();
  const late = new Set<string>();
  let busy = false;
  /** The journal has changed since it was read. */
  let changed = false;
  let known: number | undefined;
  const entriesOf = () => readJournal(join(folder, 'journal.jsonl'));
  const killOnce = async () => {
    const entries = await entriesOf();
    const last = entries.at(-1);
    if (last?.event !== 'started') return;
    // Several steps may have ended since the journal was read.
    for (const { step, event, seconds } of entries) {
      if (event !== 'done' || killed.has(step) || step === last.step) continue;
      killed.add(step);
      ended.set(step, seconds ?? Number.POSITIVE_INFINITY);
    }
    if (killed.has(last.step)) {
      // The restarted process: looked up now, so that the next kill is in time.
      known = await processOf(agent);
      return;
    }
    await intoStep(agent, last.step);
    const isHit = kill(known) || kill(await processOf(agent));
    known = undefined;
    if (!isHit) {
      // Its process was killed in the step before; the next one starts the step again.
      late.add(last.step);
      return;
    }
    late.delete(last.step);
    killed.add(last.step);
    // After the last step the journal is deleted.
    const end = (await entriesOf()).findLast(({ step }) => step === last.step);
    if (end === undefined || end.event === 'started') inside.push(last.step);
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

/** The executable, and the one that sno-trial keeps from before a change. */
const PROGRAMS = ['/var/lib/sno-agents/bin/sno-agents', '/var/lib/sno-agents/bin/sno-agents.trial'];

/** Whether the process was still there. */
function kill(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 'SIGKILL');
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
    const [program, name] = command.split('\0');
    if (name === agent && PROGRAMS.includes(program ?? '')) return pid;
  }
  return undefined;
}
