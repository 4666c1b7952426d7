import { z } from 'zod';
import { leftMs, look, neverSeen, type Unchanged } from '../../base/wait/unchanged.ts';
import { findingText, type SteadyFinding, type SteadyJudgement } from './finding.ts';

const findingSchema = z.object({
  kind: z.enum(['moving', 'unknown']),
  object: z.string(),
  what: z.string(),
  by: z.string().optional(),
});

/** Whether this host is steady, as `wait-steady --json` prints it and ConfigMap kube-system/sno-steady has it. */
export const verdictSchema = z.object({
  schemaVersion: z.literal(1),
  /** ISO 8601, when it was judged. */
  time: z.iso.datetime(),
  /** The boot that it is about; a verdict of another boot says nothing. */
  bootId: z.string(),
  /** `steady`: for the window; `settling`: for less; `moving`; `unknown`: the evidence is missing. */
  state: z.enum(['steady', 'settling', 'moving', 'unknown']),
  /** ISO 8601, since when nothing has changed; absent while something moves or is unknown. */
  since: z.iso.datetime().optional(),
  /** For how many seconds nothing may change. */
  windowSeconds: z.number(),
  /** What keeps it from being steady. */
  findings: z.array(findingSchema),
  /** What changed last, such as `Deployment x/y generation: 3 -> 4`. */
  changed: z.array(z.string()),
});
export type SteadyVerdict = z.infer<typeof verdictSchema>;

/** What has been seen so far. */
export interface Settling extends Unchanged<SteadyFinding> {
  /** What changed last, in this look or an earlier one. */
  readonly changed: readonly string[];
}

export const nothingSeen: Settling = { ...neverSeen, changed: [] };

/** The next state: any finding and any change starts the window again. */
export function nextSettling(
  before: Settling,
  at: Date,
  { findings, facts }: SteadyJudgement,
): Settling {
  const now = look(before, at, new Map(facts), findings);
  return { ...now, changed: now.changes.length > 0 ? now.changes : before.changed };
}

export function verdictOf(
  settling: Settling,
  { now, windowMs, bootId }: { now: Date; windowMs: number; bootId: string },
): SteadyVerdict {
  const { unsettled, changed, since } = settling;
  return {
    schemaVersion: 1,
    time: now.toISOString(),
    bootId,
    state: stateOf(settling, now, windowMs),
    ...(since === undefined ? {} : { since: since.toISOString() }),
    windowSeconds: windowMs / 1000,
    findings: [...unsettled],
    changed: [...changed],
  };
}

function stateOf(settling: Settling, now: Date, windowMs: number): SteadyVerdict['state'] {
  if (settling.unsettled.some(({ kind }) => kind === 'unknown')) return 'unknown';
  if (settling.unsettled.length > 0) return 'moving';
  return leftMs(settling, now, windowMs) === 0 ? 'steady' : 'settling';
}

/** One line for people. */
export function verdictText({
  state,
  since,
  findings,
  changed,
  windowSeconds,
}: SteadyVerdict): string {
  const found = findings.map(findingText).join('; ');
  switch (state) {
    case 'steady':
      return `Steady: nothing has changed since ${since}`;
    case 'settling': {
      const last = changed.length === 0 ? '' : `; changed last: ${changed.join('; ')}`;
      return `Settling: nothing has changed since ${since}, it has to stay so for ${windowSeconds} s${last}`;
    }
    case 'moving':
      return `Moving: ${found}`;
    case 'unknown':
      return `Unknown: ${found}`;
  }
}
