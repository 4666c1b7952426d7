import t from 'tap';
import type { Outcome } from '../../../lab/conformance/ginkgo-report.ts';
import { judge } from '../../../lab/conformance/verdict.ts';

const exceptions = [{ test: 'needs two nodes', reason: 'There is one.' }];
const none: Outcome = { passed: [], failed: [], skipped: [], notRun: 0 };
const named = (test: string) => ({ test, seconds: 1 });
const saying = (test: string, message = 'expected 2, got 1') => ({ ...named(test), message });

t.test('the run is good if every selected test ran and only exceptions failed', async (t) => {
  const passed = [named('works')];
  const cases: Record<string, { outcome: Partial<Outcome>; ok: boolean }> = {
    'all passed': { outcome: { passed }, ok: true },
    'an exception failed': { outcome: { passed, failed: [saying('needs two nodes')] }, ok: true },
    'an exception skipped itself': {
      outcome: { passed, skipped: [saying('needs two nodes')] },
      ok: true,
    },
    'another one skipped itself': { outcome: { passed, skipped: [saying('works')] }, ok: true },
    'a conformance test skipped itself': {
      outcome: { passed, skipped: [saying('works [Conformance]')] },
      ok: false,
    },
    'another one failed': { outcome: { passed, failed: [saying('works')] }, ok: false },
    'some did not run': { outcome: { passed, notRun: 1 }, ok: false },
    'none was selected': { outcome: {}, ok: false },
  };
  for (const [name, { outcome, ok }] of Object.entries(cases)) {
    t.equal(judge({ ...none, ...outcome }, exceptions).ok, ok, name);
  }
});

t.test('failures are told apart, exceptions with their reason', async (t) => {
  const failed = [saying('needs two nodes'), saying('works')];
  t.match(judge({ ...none, failed }, exceptions), {
    unexpected: [{ test: 'works' }],
    expected: [{ test: 'needs two nodes', reason: 'There is one.' }],
    outdated: [],
  });
});

t.test('an exception that passes is told', async (t) => {
  const verdict = judge({ ...none, passed: [named('needs two nodes')] }, exceptions);
  t.strictSame(verdict.outdated, ['needs two nodes']);
  t.strictSame(verdict.expected, []);
});
