import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { waitUntil } from '../../lib/base/wait/wait-until.ts';
import type { AgentName } from '../../lib/engine/agents/table.ts';
import { type JournalEntry, readJournal } from '../../lib/engine/steps/journal.ts';
import { patient } from '../patience.ts';
import type { Host } from './host.ts';

/** Some steps take a tenth of a second. */
const LOOK_EVERY_MS = 25;
const DEADLINE_MS = 5 * 60_000;

/** The step journal of an agent on a host. */
export const stepJournal = (rootDir: string, agent: AgentName) =>
  join(rootDir, 'var/lib/sno-agents', agent, 'journal.jsonl');

/**
 * Waits until an agent's journal says this of a step. Returns the entry.
 *
 * @param since ISO 8601: entries of earlier runs do not count. Default: all count.
 */
export async function waitForStep(
  { rootDir }: Pick<Host, 'rootDir'>,
  agent: AgentName,
  [step, event]: readonly [step: string, event: JournalEntry['event']],
  signal: AbortSignal,
  since = '',
): Promise<JournalEntry> {
  const path = stepJournal(rootDir, agent);
  const state = `${agent} has not said "${event}" of its step ${step}`;
  const said = async () => {
    const entries = await readJournal(path);
    const found = entries.find(
      (entry) => entry.step === step && entry.event === event && entry.at >= since,
    );
    return found === undefined ? { state } : { met: found };
  };
  const deadlineMs = patient(DEADLINE_MS);
  return waitUntil(said, {
    signal,
    deadlineMs,
    everyMs: patient(LOOK_EVERY_MS),
    late: () => new Failure('deadline', state, { expected: `within ${deadlineMs / 1000}s` }),
  });
}
