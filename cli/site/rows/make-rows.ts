import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { failureData } from '../../../lib/base/errors/failure-data.ts';
import { isSystemError, systemErrorText } from '../../../lib/base/errors/system-error.ts';
import { asFailure } from '../../../lib/base/errors/unexpected.ts';
import { together } from '../../../lib/base/wait/together.ts';
import { lockAgent } from '../../../lib/engine/steps/lock.ts';
import { isFullDisk } from '../../create/full-disk.ts';
import { isStagingOf } from '../../create/new-folder.ts';
import type { Stages } from '../../process/stages.ts';
import type { JudgedRow, JudgedTable } from './judge.ts';
import { completeRow, makeRow, type RowsRun } from './make-row.ts';
import { type RowResult, RowResults } from './results.ts';
import { RUN_FILES } from './run-record.ts';

/** How a run ended. */
export interface RowsOutcome {
  readonly all: number;
  readonly done: number;
  /** Of `done`, those that were there when the run began. */
  readonly before: number;
  readonly failed: readonly { readonly site: string; readonly error: unknown }[];
  /** Why the rest was not tried, in words: a disk is full. */
  readonly ended: string | undefined;
}

/** Of lines of progress. */
const PROGRESS_MS = 10_000;

/** A disk is full: no other row can be made. */
class Ended extends Error {}

/**
 * Makes every row that is not done, several at once. A row that fails leaves nothing, and does not stop the others. Each result
 * is in `results.jsonl` as soon as it is known.
 *
 * @throws the reason of `signal`: what is done then stays
 */
export async function makeRows(
  { rows, read }: JudgedTable,
  run: RowsRun,
  { parallel, stages }: { readonly parallel: number; readonly stages: Stages },
): Promise<RowsOutcome> {
  await using results = await RowResults.open(join(run.output, RUN_FILES.results));
  await clearStaging(run.output, rows);
  for (const row of rows.filter(({ site }) => !results.done.has(site))) {
    const complete = await completeRow(row, run);
    if (complete !== undefined) await results.add(complete);
  }
  const before = results.done.size;
  const failed: { site: string; error: unknown }[] = [];
  const progress = progressOf(rows.length, stages);
  const make = async (row: JudgedRow, signal: AbortSignal) => {
    try {
      await results.add(await makeRow(row, await read(row), { ...run, signal }));
    } catch (error) {
      signal.throwIfAborted();
      if (isFullDisk(error)) throw new Ended(textOf(error), { cause: error });
      await results.add(failedRow(row, run, error));
      failed.push({ site: row.site, error });
    }
    progress(results.done.size, failed.length);
  };
  const outcome = (ended: string | undefined): RowsOutcome => ({
    all: rows.length,
    done: results.done.size,
    before,
    failed,
    ended,
  });
  try {
    const left = rows.filter(({ site }) => !results.done.has(site));
    await together(left, { signal: run.signal, concurrency: parallel }, make);
    return outcome(undefined);
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof Ended || isFullDisk(error)) return outcome(textOf(error));
    throw error;
  }
}

const textOf = (error: unknown): string =>
  isSystemError(error) ? systemErrorText(error) : describeError(error);

function failedRow(row: JudgedRow, { serial }: RowsRun, error: unknown): RowResult {
  return {
    schemaVersion: 1,
    site: row.site,
    state: 'failed',
    serial: row.serial ?? serial,
    isEncrypted: row.isEncrypted,
    failure: failureData(asFailure(error)),
  };
}

/** What a killed process was making. */
async function clearStaging(output: string, rows: readonly JudgedRow[]): Promise<void> {
  const sites = new Set(rows.map(({ site }) => site));
  for (const name of await readdir(output)) {
    const site = name.slice(1, name.lastIndexOf('.'));
    if (!sites.has(site) || !isStagingOf(name, site)) continue;
    await rm(join(output, name), { recursive: true, force: true });
  }
}

function progressOf(all: number, stages: Stages): (done: number, failed: number) => void {
  let said = performance.now();
  return (done, failed) => {
    if (performance.now() - said < PROGRESS_MS) return;
    said = performance.now();
    stages(`${done} of ${all} volumes${failed === 0 ? '' : `, ${failed} failed`}`);
  };
}

/** Ensures one run at a time in a folder; nothing is left of that when the process is killed. */
export async function withRunLock<T>(output: string, use: () => Promise<T>): Promise<T> {
  using _lock = await lockAgent('create site-volumes', output).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.code !== 'already-running') throw error;
    throw new Failure('usage', `another process makes the volumes of ${output}`, {
      code: 'already-running',
      fix: 'Wait until it ends.',
    });
  });
  return use();
}
