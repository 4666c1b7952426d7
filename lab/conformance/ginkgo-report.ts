import { z } from 'zod';

/** Of ginkgo's JSON report (types.Report), what is read here. */
const reportSchema = z.tuple([
  z.object({
    PreRunStats: z.object({ SpecsThatWillRun: z.int() }),
    SpecReports: z.array(
      z.object({
        ContainerHierarchyTexts: z.array(z.string()).nullable(),
        LeafNodeType: z.string(),
        LeafNodeText: z.string(),
        State: z.string(),
        RunTime: z.number().describe('nanoseconds'),
        Failure: z.object({ Message: z.string() }).optional(),
      }),
    ),
  }),
]);

export interface TestResult {
  /** As in the list of conformance tests; for set-up and clean-up of the whole run, ginkgo's type. */
  readonly test: string;
  readonly seconds: number;
}

/** A test that failed or that skipped itself, with its own words. */
export interface TestMessage extends TestResult {
  readonly message: string;
}

export interface Outcome {
  readonly passed: readonly TestResult[];
  readonly failed: readonly TestMessage[];
  readonly skipped: readonly TestMessage[];
  /** Number of selected tests that did not run: the run ended early. */
  readonly notRun: number;
}

/** The outcome of the selected tests. Throws a ZodError if the text is not a report of one suite. */
export function readGinkgoReport(text: string): Outcome {
  const [{ PreRunStats, SpecReports }] = reportSchema.parse(JSON.parse(text));
  const passed: TestResult[] = [];
  const failed: TestMessage[] = [];
  const skipped: TestMessage[] = [];
  let tests = 0;
  for (const report of SpecReports) {
    const isTest = report.LeafNodeType === 'It';
    const test = [...(report.ContainerHierarchyTexts ?? []), report.LeafNodeText].join(' ').trim();
    const seconds = Math.round(report.RunTime / 1e8) / 10;
    const result = { test: test === '' ? report.LeafNodeType : test, seconds };
    const message = report.Failure?.Message;
    // Tests that were not selected are "skipped", too, but have nothing to say.
    const isSelected = report.State !== 'pending' && !(report.State === 'skipped' && !message);
    if (!isSelected) continue;
    if (isTest) tests += 1;
    if (report.State === 'skipped') skipped.push({ ...result, message: message ?? '' });
    else if (report.State !== 'passed')
      failed.push({ ...result, message: message ?? report.State });
    else if (isTest) passed.push(result);
  }
  return { passed, failed, skipped, notRun: PreRunStats.SpecsThatWillRun - tests };
}
