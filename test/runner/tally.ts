import { Parser, type Result } from 'tap-parser';
import { stringify } from 'yaml';

/**
 * Counts of test cases. A case is a test without tests within it, however many assertions it makes, or an assertion of a file
 * outside its tests.
 */
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
 * each announced by a comment. The promise resolves at the end of the stream. A process or test that
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
    (name, result) => countResult(name, result, tally, events),
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

/** What a test has printed so far. */
interface Printed {
  /** Of the tests within it. */
  readonly cases: Tally;
  /** Of its own assertions. */
  readonly assertions: Tally;
}

/** TAP prints a test before its summary line, which is an assertion of the test around it. */
function watch(
  parser: Parser,
  path: () => readonly string[],
  countTest: (cases: Tally) => void,
  countAssertion: (name: string, result: Result) => void,
  events: TallyEvents,
): void {
  let inner: Printed | undefined;
  parser.on('child', (child) => {
    const cases = emptyTally();
    const assertions = emptyTally();
    inner = { cases, assertions };
    watch(
      child,
      () => [...path(), child.name],
      (counted) => addTally(cases, counted),
      (name, result) => countResult(name, result, assertions, events),
      events,
    );
  });
  parser.on('assert', (result) => {
    const name = [...path(), result.name].join(' > ');
    const test = inner;
    inner = undefined;
    if (test === undefined) countAssertion(name, result);
    else countTest(casesOf(name, result, test, events));
  });
}

function casesOf(
  name: string,
  result: Result,
  { cases, assertions }: Printed,
  events: TallyEvents,
): Tally {
  const failed = cases.failed + assertions.failed;
  const isSilent = isEmpty(cases) && isEmpty(assertions);
  // Without a failed assertion, the summary line is what says why.
  if (isSilent || (!result.ok && failed === 0)) countResult(name, result, assertions, events);
  const hasOwn = assertions.passed > 0 && isEmpty(cases);
  addTally(cases, {
    passed: hasOwn && assertions.failed === 0 ? 1 : 0,
    failed: assertions.failed > 0 ? 1 : 0,
    // TAP shows a test that is skipped as an assertion of the test around it.
    skipped: assertions.skipped,
  });
  return cases;
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
