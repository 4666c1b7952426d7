import { Failure } from '../../../lib/base/errors/failure.ts';
import { M, type RuleCase, step } from './rule-case.ts';

const REVERTED = new Failure('fatal', 'the update to 1.2.3 was taken back', {
  code: 'trial-reverted',
  found: 'it was not confirmed',
  fix: 'The host is as it was before.',
});
const INCOMPLETE = new Failure('fatal', 'the update to 1.2.3 was taken back, but not completely', {
  code: 'trial-incomplete',
  fix: 'See "sno-trial status".',
});
const TRIAL = `${M}/steps/sno-trial.jsonl`;

export const trialCases: readonly RuleCase[] = [
  {
    rule: 'change-reverted',
    of: 'a change that did not settle: the host works as before',
    files: { [TRIAL]: step('15:00:02', 'conclude', 'failed', REVERTED) },
    finds: [
      {
        severity: 'warning',
        title: /^A change of this host was taken back: the update to 1\.2\.3 .*not confirmed/,
        todo: /as it was before/,
        at: `${TRIAL}:1`,
      },
    ],
  },
  {
    rule: 'change-reverted',
    of: 'a change of which something could not be put back',
    files: { [TRIAL]: step('15:00:02', 'conclude', 'failed', INCOMPLETE) },
    finds: [{ severity: 'failing', title: /taken back incompletely/, todo: /sno-trial status/ }],
  },
  {
    rule: 'change-reverted',
    of: 'a later change that is on trial',
    files: {
      [TRIAL]: [
        step('15:00:02', 'conclude', 'failed', REVERTED),
        step('16:00:02', 'conclude', 'done'),
      ].join(''),
    },
  },
];
