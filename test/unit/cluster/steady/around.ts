import type { Around, SteadyJudgement } from '../../../../lib/cluster/steady/finding.ts';
import { findingText } from '../../../../lib/cluster/steady/finding.ts';

export const bootTime = new Date('2030-01-01T00:00:00Z');
export const AFTER = '2030-01-01T00:01:00Z';
export const BEFORE = '2029-12-31T23:59:00Z';
export const around = (...namespaces: string[]): Around => ({
  now: new Date('2030-01-01T00:02:00Z'),
  bootTime,
  runsSinceBoot: (namespace) => namespaces.includes(namespace),
});

/** `unknown: text` or `moving: text` of each finding. */
export const found = ({ findings }: SteadyJudgement) =>
  findings.map((finding) => `${finding.kind}: ${findingText(finding)}`);

export const conditions = (states: Record<string, string>) =>
  Object.entries(states).map(([type, status]) => ({ type, status, message: `${type} says so` }));
