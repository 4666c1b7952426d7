import type { Writable } from 'node:stream';
import { inOneLine } from '../../../lib/base/printable.ts';
import type { GatherResult } from '../gather.ts';
import type { Written } from './destination.ts';
import type { Workplace } from './workplace.ts';

/** Failures printed; gather.log has all of them. */
const TOLD_FAILURES = 10;

/** Prints the closing summary for people. */
export function tell(
  { summary, failures, interrupted }: GatherResult,
  { shortage }: Workplace,
  written: Written | undefined,
  words: Writable,
): void {
  words.write(`${summary.trimEnd()}\n`);
  if (failures.length > 0) {
    words.write(`${failures.length} sources failed or are not complete; gather.log has all:\n`);
    for (const { path, failure = '' } of failures.slice(0, TOLD_FAILURES)) {
      words.write(`  ${inOneLine(path)}: ${inOneLine(failure)}\n`);
    }
  }
  if (shortage !== undefined) words.write(`Collected in memory: ${shortage}\n`);
  if (interrupted !== undefined) words.write(`Ended early: ${interrupted}\n`);
  if (written !== undefined) tellPlace(written, words);
}

/** Printed last: the line that scripts look for. */
export function tellPlace({ path, note }: Written, words: Writable): void {
  if (note !== undefined) words.write(`${note}\n`);
  words.write(`Log bundle written to ${path}\n`);
}
