import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { exists, readTextIfPresent } from '../lib/host/files.ts';
import { readJournal } from '../lib/steps/journal.ts';
import type { AgentStep } from './scenario.ts';

const recordSchema = z.object({
  steps: z.array(
    z.looseObject({
      agent: z.string(),
      name: z.string(),
      seconds: z.number(),
      cpu: z.number(),
      attempts: z.number(),
    }),
  ),
});

/** Copies journals and status files of the agents out of a host's tree, so that they outlive it. */
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
 * Every step of every agent. The journals of the live host tell it whole; the record
 * tells of the installed host, whose last journal is gone; other journals, the rest.
 */
export async function readAgentSteps(live: string, last: string): Promise<AgentStep[]> {
  const ofLive = await summarizeFolder(live);
  const text = await readTextIfPresent(join(last, 'record.json'));
  const recorded = text === undefined ? [] : recordSchema.parse(JSON.parse(text)).steps;
  const ofLast = await summarizeFolder(last);
  const steps: AgentStep[] = [];
  for (const each of [...ofLive, ...recorded, ...ofLast]) {
    const known = steps.some(({ agent, name }) => agent === each.agent && name === each.name);
    if (!known) steps.push(each);
  }
  return steps;
}

async function summarizeFolder(folder: string): Promise<AgentStep[]> {
  const steps: AgentStep[] = [];
  for (const file of await readdir(folder).catch(() => [])) {
    if (!file.endsWith('.jsonl')) continue;
    steps.push(...(await summarizeJournal(file.slice(0, -'.jsonl'.length), join(folder, file))));
  }
  return steps;
}

async function summarizeJournal(agent: string, path: string): Promise<AgentStep[]> {
  const entries = await readJournal(path);
  return [...new Set(entries.map(({ step }) => step))].map((name) => {
    const own = entries.filter(({ step }) => step === name);
    const done = own.findLast(({ event }) => event === 'done');
    return {
      agent,
      name,
      seconds: done?.seconds ?? 0,
      cpu: done?.cpu ?? 0,
      attempts: own.filter(({ event }) => event === 'started').length,
    };
  });
}
