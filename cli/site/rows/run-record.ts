import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { parseJson } from '../../../lib/base/json.ts';
import { exists, writeFileAtomic } from '../../../lib/host/files.ts';
import { namingFullDisk } from '../../create/full-disk.ts';
import { makeNewFolder } from '../../create/new-folder.ts';

/** Beside the folders of the rows: none may have one of these names. */
export const RUN_FILES = { record: 'run.json', results: 'results.jsonl' } as const;

const inputsSchema = z.object({
  table: z.string().describe('SHA-256'),
  template: z.string().describe('SHA-256'),
  files: z.string().describe('SHA-256 of all that the template names, manifests, and host facts'),
  format: z.string(),
  signer: z.string().optional().describe('fingerprint of the key; absent: not signed'),
});

/** What volumes are made of. */
export type RunInputs = z.infer<typeof inputsSchema>;

const runSchema = z.object({
  schemaVersion: z.literal(1),
  kind: z.literal('SiteVolumes'),
  begunAt: z.iso.datetime(),
  serial: z.int().min(1).describe('of each row whose template has none'),
  rows: z.int().min(1),
  inputs: inputsSchema,
});

/** What a run has begun with: `run.json` in its folder. */
export type RunRecord = z.infer<typeof runSchema>;

const WORDS: Readonly<Record<keyof RunInputs, string>> = {
  table: 'the table',
  template: 'the template',
  files: 'the files that it names, extra-manifests or the facts of hosts',
  format: '--format',
  signer: 'the key of --sign',
};

/** Makes the folder of a new run, atomically with its record. */
export async function beginRun(
  output: string,
  { inputs, rows, now }: { readonly inputs: RunInputs; readonly rows: number; readonly now: Date },
): Promise<RunRecord> {
  const run: RunRecord = {
    schemaVersion: 1,
    kind: 'SiteVolumes',
    begunAt: now.toISOString(),
    serial: Math.floor(now.getTime() / 1000),
    rows,
    inputs,
  };
  try {
    await makeNewFolder(output, async (staging) => {
      await writeFileAtomic(join(staging, RUN_FILES.results), '', 0o600);
      const text = `${JSON.stringify(run, null, 2)}\n`;
      await writeFileAtomic(join(staging, RUN_FILES.record), text, 0o644);
    });
  } catch (error) {
    throw await namingFullDisk(error, output, undefined);
  }
  return run;
}

/** The record of the run in a folder; undefined if there is no folder. @throws Failure (usage) for another folder */
export async function begunRun(output: string): Promise<RunRecord | undefined> {
  if (!(await exists(output))) return undefined;
  const text = await readFile(join(output, RUN_FILES.record), 'utf8').catch(() => '');
  const parsed = runSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('usage', `${output} cannot be resumed; nothing was written`, {
    expected: `the folder of an earlier run, with its ${RUN_FILES.record}`,
    found: text === '' ? 'none' : `another ${RUN_FILES.record}`,
    fix: `Name the folder that "sno create site-volumes" has begun, or use a new one: ${basename(output)} is not changed.`,
  });
}

/** @throws Failure (usage) that names what is different */
export function requireSameInputs(output: string, { inputs }: RunRecord, now: RunInputs): void {
  const differing = differences(inputs, now);
  if (differing.length === 0) return;
  throw new Failure('usage', `${output} was begun with other inputs; nothing was written`, {
    expected: 'the same table, template, files and options as in the run that is resumed',
    found: `differences in ${differing.join(', ')}`,
    fix: 'Put them back as they were, or make all volumes anew in another folder: those that are done have keys of their own.',
  });
}

function differences(then: RunInputs, now: RunInputs): string[] {
  const names = (['table', 'template', 'files', 'format', 'signer'] as const).filter(
    (name) => then[name] !== now[name],
  );
  // They are those of the rows: with another table or template, they say nothing.
  const isOther = names.includes('table') || names.includes('template');
  return names.filter((name) => name !== 'files' || !isOther).map((name) => WORDS[name]);
}
