import { Failure } from '../../../lib/base/errors/failure.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { exists } from '../../../lib/host/files.ts';
import { reportPaths } from '../../../lib/relocation/relocatable/report.ts';
import { judgeShipment } from '../../../lib/relocation/relocatable/validation/judge.ts';
import { collectFacts } from './collect.ts';
import type { ValidateContext } from './context.ts';
import { writeReport } from './report.ts';

/** Judges the node, and writes the report whatever it says. */
export const inspectForShipping: StepBody<ValidateContext> = {
  name: 'inspect',
  leaves: 'the report of the factory, signed by the host, without faults',
  touches: ['disk', 'api', 'runtime', 'clock'],
  input: ({ id }) => id,
  holds: ({ paths }) => exists(reportPaths(paths).signature),
  async run(context, progress) {
    const facts = await collectFacts(context, progress);
    const checks = judgeShipment(facts);
    await writeReport(context, facts, checks, progress.signal);
    const faults = checks.flatMap(({ name, faults: all }) => all.map((each) => `${name}: ${each}`));
    if (faults.length === 0) {
      // The report has what the cluster was asked.
      const notes = checks.flatMap((each) => (each.name === 'conformance' ? [] : each.notes));
      return done(notes.join('; ') || 'no faults');
    }
    throw new Failure('fatal', 'the node cannot be shipped', {
      expected: 'no faults',
      found: faults.join('; '),
      fix: `Remove the faults and run "reconfigure validate" again. The report is ${reportPaths(context.paths).page}.`,
    });
  },
};
