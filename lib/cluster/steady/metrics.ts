import { type Sample, sample } from '../../engine/metrics/metrics.ts';
import type { SteadyVerdict } from './verdict.ts';

const KINDS = ['moving', 'unknown'] as const;

/** The verdict as figures. */
export const steadyMetrics = ({ state, time, since, findings }: SteadyVerdict): Sample[] => [
  sample('sno_steady', {}, state === 'steady'),
  sample('sno_steady_judged_timestamp_seconds', {}, new Date(time)),
  ...(since === undefined
    ? []
    : [sample('sno_steady_since_timestamp_seconds', {}, new Date(since))]),
  ...KINDS.map((kind) =>
    sample('sno_steady_findings', { kind }, findings.filter((each) => each.kind === kind).length),
  ),
];
