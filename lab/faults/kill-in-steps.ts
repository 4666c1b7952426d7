import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJournal } from '../../lib/steps/journal.ts';

/** How far into a step its kill comes, where the beginning would be too early to be interesting. */
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
  // After the first files were removed, among them the way to ask the API.
  clean: 250,
  'verify-clean': 300,
};

export interface Kills {
  /** Steps that a kill cut: the journal had them as begun and not as ended. */
  readonly inside: readonly string[];
  /** Steps that had ended before the kill arrived. */
  readonly late: readonly string[];
  stop(): void;
}

/**
 * Kills the agent once in each step: as soon as its journal says that a step has
 * begun, SIGKILL follows. `agent` is also the argument by which its process is known.
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
        // The process that was started anew: found now, so that the next kill is in time.
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
      // After the last step there is no journal any more.
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
    // It ended by itself meanwhile; the journal will say that the step was not cut.
  }
}

/** The process of this agent; the lab's process namespace has no other hosts' in it. */
async function processOf(agent: string): Promise<number | undefined> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const command = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
    if (command.startsWith(`/var/lib/sno-agents/bin/sno-agents\0${agent}\0`)) return Number(entry);
  }
  return undefined;
}
