import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type RecordedStep,
  recordedSteps,
  recordSchema,
} from '../lib/cluster/installation/record.ts';
import { readJournal } from '../lib/engine/steps/journal.ts';
import { exists, readTextIfPresent } from '../lib/host/files.ts';

/** Copies the agents' journals and status files out of a host's tree, to keep them after it is deleted. */
export async function saveAgentState(rootDir: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  const state = join(rootDir, 'var/lib/sno-agents');
  for (const name of await readdir(state).catch(() => [])) {
    const journal = join(state, name, 'journal.jsonl');
    if (await exists(journal)) await cp(journal, join(target, `${name}.jsonl`));
  }
  const live = join(state, 'live');
  if (await exists(live)) await cp(live, target, { recursive: true });
  const record = join(state, 'record.json');
  if (await exists(record)) await cp(record, join(target, 'record.json'));
}

/**
 * Every step of every agent: from the live host's journals, which are complete; from the record
 * for the installed host, whose last journal is deleted; and from other journals for the rest.
 */
export async function readAgentSteps(live: string, last: string): Promise<RecordedStep[]> {
  const ofLive = await summarizeFolder(live);
  const text = await readTextIfPresent(join(last, 'record.json'));
  const recorded = text === undefined ? [] : recordSchema.parse(JSON.parse(text)).steps;
  const ofLast = await summarizeFolder(last);
  const steps: RecordedStep[] = [];
  for (const each of [...ofLive, ...recorded, ...ofLast]) {
    const known = steps.some(({ agent, name }) => agent === each.agent && name === each.name);
    if (!known) steps.push(each);
  }
  return steps;
}

async function summarizeFolder(folder: string): Promise<RecordedStep[]> {
  const steps: RecordedStep[] = [];
  for (const file of await readdir(folder).catch(() => [])) {
    if (!file.endsWith('.jsonl')) continue;
    const agent = file.slice(0, -'.jsonl'.length);
    steps.push(...recordedSteps(agent, await readJournal(join(folder, file))));
  }
  return steps;
}
