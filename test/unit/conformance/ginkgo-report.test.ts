import t from 'tap';
import { readGinkgoReport } from '../../../lab/conformance/ginkgo-report.ts';

const spec = (text: string, State: string, more: object = {}) => ({
  ContainerHierarchyTexts: ['[sig-apps] Job'],
  LeafNodeType: 'It',
  LeafNodeText: text,
  State,
  RunTime: 2_340_000_000,
  ...more,
});

const reportOf = (willRun: number, ...specs: object[]) =>
  JSON.stringify([{ PreRunStats: { SpecsThatWillRun: willRun }, SpecReports: specs }]);

t.test('selected tests are passed, failed or skipped, by their full names', async (t) => {
  const text = reportOf(
    4,
    spec('passes', 'passed'),
    spec('fails', 'failed', { Failure: { Message: 'two is not one' } }),
    spec('panics', 'panicked', { Failure: { Message: 'nil map' } }),
    spec('refuses', 'skipped', { Failure: { Message: 'needs two nodes' } }),
    spec('was not selected', 'skipped'),
    spec('is not written', 'pending'),
  );
  t.strictSame(readGinkgoReport(text), {
    passed: [{ test: '[sig-apps] Job passes', seconds: 2.3 }],
    failed: [
      { test: '[sig-apps] Job fails', seconds: 2.3, message: 'two is not one' },
      { test: '[sig-apps] Job panics', seconds: 2.3, message: 'nil map' },
    ],
    skipped: [{ test: '[sig-apps] Job refuses', seconds: 2.3, message: 'needs two nodes' }],
    notRun: 0,
  });
});

t.test('tests that the deadline left out are counted', async (t) => {
  const text = reportOf(
    3,
    spec('passes', 'passed'),
    spec('was running', 'timedout', { Failure: { Message: 'interrupted' } }),
    spec('would have been next', 'skipped'),
  );
  t.match(readGinkgoReport(text), {
    failed: [{ test: '[sig-apps] Job was running' }],
    notRun: 1,
  });
});

t.test('a failed set-up is a failure; one that succeeded is not a test', async (t) => {
  const setUp = { ContainerHierarchyTexts: null, LeafNodeType: 'SynchronizedBeforeSuite' };
  const succeeded = reportOf(1, spec('', 'passed', setUp), spec('passes', 'passed'));
  t.match(readGinkgoReport(succeeded), { passed: { length: 1 }, failed: [], notRun: 0 });
  const failed = reportOf(5, spec('', 'failed', { ...setUp, Failure: { Message: 'no node' } }));
  t.match(readGinkgoReport(failed), {
    failed: [{ test: 'SynchronizedBeforeSuite', message: 'no node' }],
    notRun: 5,
  });
});

t.test('what is not a report of one suite is refused', async (t) => {
  for (const text of ['[]', '{}', '[{"SpecReports":[]}]']) t.throws(() => readGinkgoReport(text));
});
