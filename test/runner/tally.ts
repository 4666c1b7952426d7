import { Parser, type Result } from 'tap-parser';
import { stringify } from 'yaml';

/** Counts of assertions: a subtest counts by its own assertions. */
export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/** Events reported while the run is in progress. */
export interface TallyEvents {
  /** The tests of a file have finished, this long after those of the file before it. */
  onFile(name: string, tally: Tally, seconds: number): void;
  /** `detail` is YAML, without the indentation of TAP. */
  onFailure(name: string, detail: string): void;
  onSkip(name: string, reason: string): void;
}

export const emptyTally = (): Tally => ({ passed: 0, failed: 0, skipped: 0 });

export const addTally = (sum: Tally, { passed, failed, skipped }: Tally): void => {
  sum.passed += passed;
  sum.failed += failed;
  sum.skipped += skipped;
};

/** The TAP comment before each file's tests if one process runs several files. */
export const fileComment = (file: string): string => `file ${file}`;

/**
 * Counts the TAP stream of a process that runs the test file `first`, or `first` and further files,
 * each announced by a comment. The promise resolves at the end of the stream. A process or subtest that
 * fails without a failed assertion (crash, timeout, wrong plan, no assertions) counts as one failure; a
 * process that skips all its tests counts as one skipped.
 */
export function tallyFiles(
  first: string,
  stream: NodeJS.ReadableStream,
  events: TallyEvents,
): Promise<Tally> {
  const total = emptyTally();
  const parser = new Parser();
  let file = first;
  let tally = emptyTally();
  let began = performance.now();
  const endFile = () => {
    const now = performance.now();
    events.onFile(file, tally, (now - began) / 1000);
    began = now;
    addTally(total, tally);
    tally = emptyTally();
  };
  watch(
    parser,
    () => [file],
    (counted) => addTally(tally, counted),
    events,
  );
  parser.on('comment', (comment) => {
    const next = /^# file (\S+)\s*$/.exec(comment)?.[1];
    if (next === undefined) return;
    if (next !== first) {
      if (isEmpty(tally)) {
        tally.failed += 1;
        events.onFailure(file, 'no assertion was made');
      }
      endFile();
    }
    file = next;
  });
  return new Promise((resolve, reject) => {
    parser.on('complete', (results) => {
      const { skipAll, comment } = results.plan;
      // An empty plan without a reason is not a skip but a file without tests.
      const reason = /^\s*skip\S*\s+(.+)/i.exec(comment)?.[1];
      if (results.ok && skipAll && reason !== undefined) {
        tally.skipped += 1;
        events.onSkip(file, reason);
      } else if ((!results.ok || isEmpty(tally)) && total.failed + tally.failed === 0) {
        tally.failed += 1;
        events.onFailure(file, results.ok ? 'no assertion was made' : stringify(results.failures));
      }
      endFile();
      resolve(total);
    });
    stream.on('error', reject);
    stream.pipe(parser);
  });
}

/** TAP prints a subtest before its summary line: only the subtest's contents are counted. */
function watch(
  parser: Parser,
  path: () => readonly string[],
  count: (counted: Tally) => void,
  events: TallyEvents,
): void {
  let subtest: Tally | undefined;
  parser.on('child', (child) => {
    const inner = emptyTally();
    subtest = inner;
    watch(
      child,
      () => [...path(), child.name],
      (counted) => addTally(inner, counted),
      events,
    );
  });
  parser.on('assert', (result) => {
    const name = [...path(), result.name].join(' > ');
    const counted = subtest ?? emptyTally();
    if (isEmpty(counted) || (!result.ok && counted.failed === 0)) {
      countResult(name, result, counted, events);
    }
    subtest = undefined;
    count(counted);
  });
}

function countResult(name: string, result: Result, tally: Tally, events: TallyEvents): void {
  const reason = result.skip || result.todo;
  if (reason !== false) {
    tally.skipped += 1;
    events.onSkip(name, typeof reason === 'string' ? reason : '');
  } else if (result.ok) {
    tally.passed += 1;
  } else {
    tally.failed += 1;
    events.onFailure(name, detailOf(result));
  }
}

function detailOf({ diag }: Result): string {
  const { source: _source, ...detail } = diag ?? {};
  return Object.keys(detail).length === 0 ? '' : stringify(detail);
}

const isEmpty = ({ passed, failed, skipped }: Tally) => passed + failed + skipped === 0;
