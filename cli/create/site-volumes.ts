import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { plural } from '../../report/reading/words.ts';
import { requireIsoPrograms } from '../iso/programs.ts';
import { stagesOf } from '../process/stages.ts';
import { type JudgedTable, judgeTable } from '../site/rows/judge.ts';
import { FORMAT_NAMES, isFormat, type RowFormat } from '../site/rows/make-row.ts';
import { makeRows, type RowsOutcome, withRunLock } from '../site/rows/make-rows.ts';
import { sitesText } from '../site/rows/notices.ts';
import {
  beginRun,
  begunRun,
  RUN_FILES,
  type RunInputs,
  type RunRecord,
  requireSameInputs,
} from '../site/rows/run-record.ts';
import { signerOf } from '../site/rows/signer.ts';
import type { Surroundings } from '../surroundings.ts';
import { requireAbsent } from './outputs.ts';
import { UNSIGNED } from './site-volume.ts';

export interface SiteVolumesOptions {
  readonly table: string;
  readonly output: string;
  /** The folder with the template, and what it names. */
  readonly dir: string;
  readonly format: string;
  readonly sign?: string;
  /** Has SITE.json, the host-facts.json of each row's node. */
  readonly hostFactsDir?: string;
  /** How many rows at once. */
  readonly parallel?: number;
  /** Goes on in the output of an earlier run. */
  readonly resume?: true;
}

/** Rows wait for the disk and for other programs most of their time: measured with two processors, eight are the fastest. */
const usualParallel = (): number => Math.min(4 * availableParallelism(), 16);

/**
 * `sno create site-volumes`: a volume for each row of a table.
 *
 * @throws Failure (usage), with nothing written, that names every fault of every row; Failure (retry) if some rows were not made
 */
export async function createSiteVolumes(
  options: SiteVolumesOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { environment, wrote, notice, signal } = surroundings;
  const { sign, parallel = usualParallel() } = options;
  const output = resolve(options.output);
  const format = formatOf(options.format);
  if (format === 'iso') await requireIsoPrograms(environment, ['xorriso']);
  const begun = options.resume === true ? await begunRun(output) : undefined;
  if (options.resume !== true) {
    const fix = 'Move it away, use another folder with --output, or continue in it with --resume.';
    await requireAbsent([output], fix);
  }
  const signer = sign === undefined ? undefined : await signerOf(sign, signal);
  const now = new Date();
  const stages = stagesOf(surroundings);
  stages('judges all rows');
  const table = await judgeTable(options, { parallel, now, signal });
  const inputs = { ...table.inputs, format, ...(signer === undefined ? {} : { signer }) };
  const run = await runOf(output, begun, { table, inputs, now });
  const outcome = await withRunLock(output, () =>
    makeRows(table, { output, format, serial: run.serial, sign, signal }, { parallel, stages }),
  );
  wrote(output, doneText(outcome));
  for (const text of [...(sign === undefined ? [UNSIGNED] : []), ...table.notices]) notice(text);
  if (outcome.ended !== undefined || outcome.failed.length > 0) throw incomplete(output, outcome);
}

function formatOf(format: string): RowFormat {
  if (isFormat(format)) return format;
  throw new Failure('usage', `--format ${format} is not known; nothing was written`, {
    expected: FORMAT_NAMES.join(' or '),
  });
}

async function runOf(
  output: string,
  begun: RunRecord | undefined,
  {
    table,
    inputs,
    now,
  }: { readonly table: JudgedTable; readonly inputs: RunInputs; readonly now: Date },
): Promise<RunRecord> {
  if (begun === undefined) return beginRun(output, { inputs, rows: table.rows.length, now });
  requireSameInputs(output, begun, inputs);
  return begun;
}

function doneText({ all, done, before }: RowsOutcome): string {
  const volumes = done === all ? plural(all, 'volume') : `${done} of ${plural(all, 'volume')}`;
  return `${volumes}, each with its auth${before === 0 ? '' : `; ${before} of them were there`}`;
}

function incomplete(output: string, { all, done, failed, ended }: RowsOutcome): Failure {
  const results = join(output, RUN_FILES.results);
  const missing = plural(all - done, 'volume');
  if (ended !== undefined) {
    return new Failure('retry', `${output} is on a file system that is full`, {
      code: 'disk-full',
      expected: `space for ${missing} more`,
      found: ended,
      fix: 'Free some space, and give the same command with --resume: what is done stays.',
    });
  }
  const [first] = failed;
  return new Failure('retry', `${missing} of ${all} could not be made`, {
    code: 'site-volumes-incomplete',
    found: sitesText(failed.map(({ site }) => site)),
    fix: `See ${results}, and give the same command with --resume: what is done stays.`,
    cause: first?.error,
  });
}
