import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJournal } from '../../lib/steps/journal.ts';

/** Delay of the kill after the step's start, where its beginning would not be interesting. */
const INTO_STEP_MS: Readonly<Record<string, number>> = {
  payload: 2_500,
  etcd: 400,
  'control-plane': 1_500,
  quiesce: 1_200,
  snapshot: 2_050,
  'stop-etcd': 500,
  'write-disk': 2_500,
  'copy-payload': 1_000,
  api: 1_000,
  'bootstrap-complete': 2_000,
  'steady-state': 5_000,
  // After the first files were deleted, including the API credentials.
  clean: 250,
  'verify-clean': 300,
};

export interface Kills {
  /** Steps that were killed: started and not ended according to the journal. */
  readonly inside: readonly string[];
  /** Steps that had ended before the kill. */
  readonly late: readonly string[];
  stop(): void;
}

/**
 * Kills the agent once in each step with SIGKILL, as soon as its journal says that the step has
 * started. `agent` is also the argument that identifies its process.
 */
export async function killInEverySteps(rootDir: string, agent: string): Promise<Kills> {
  const folder = join(rootDir, 'var/lib/sno-agents', agent);
  await mkdir(folder, { recursive: true });
  const killed = new Set<string>();
  const inside: string[] = [];
  const late: string[] = [];
  let busy = false;
  let known: number | undefined;
  const look = async () => {
    if (busy) return;
    busy = true;
    try {
      const last = (await readJournal(join(folder, 'journal.jsonl'))).at(-1);
      if (last?.event !== 'started') return;
      if (killed.has(last.step)) {
        // The restarted process: looked up now, so that the next kill is in time.
        known = await processOf(agent);
        return;
      }
      killed.add(last.step);
      const delayMs = INTO_STEP_MS[last.step];
      if (delayMs !== undefined) await sleep(delayMs);
      const pid = known ?? (await processOf(agent));
      known = undefined;
      if (pid !== undefined) kill(pid);
      const entries = await readJournal(join(folder, 'journal.jsonl'));
      // After the last step the journal is deleted.
      const end = entries.findLast(({ step }) => step === last.step)?.event ?? 'started';
      (end === 'started' ? inside : late).push(last.step);
    } finally {
      busy = false;
    }
  };
  const watcher: FSWatcher = watch(folder, () => void look());
  await look();
  return { inside, late, stop: () => watcher.close() };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile; the journal will say that the step was not interrupted.
  }
}

/** The agent's process; the lab's PID namespace contains no other hosts'. */
async function processOf(agent: string): Promise<number | undefined> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const command = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
    if (command.startsWith(`/var/lib/sno-agents/bin/sno-agents\0${agent}\0`)) return Number(entry);
  }
  return undefined;
}
