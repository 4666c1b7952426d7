import { z } from 'zod';
import { FAILURE_CODES, isFailureCode } from '../../lib/base/errors/codes.ts';
import {
  NEEDS_SOMEBODY,
  SITE_STATE_NAMES,
  SITE_STATES,
  type SiteRowState,
  type SiteState,
} from './site-state.ts';

const failureSchema = z.object({
  code: z.string().describe('failure code (docs/reference/failures.md), or a word of the hub'),
  state: z.enum(['failed', 'undelivered']),
  sites: z.array(z.string()),
  what: z.string().optional().describe('what the first of these sites says'),
  fix: z.string().optional().describe('what a person can do'),
});

const statesSchema = z.object({
  failed: z.int(),
  undelivered: z.int(),
  silent: z.int(),
  unknown: z.int(),
  running: z.int(),
  delivered: z.int(),
  rendered: z.int(),
  waiting: z.int(),
  completed: z.int(),
  idle: z.int(),
} satisfies Record<SiteState, z.ZodInt>);

/** What `sno fleet status --json` prints. */
export const fleetStatusSchema = z.object({
  schemaVersion: z.literal(1),
  at: z.iso.datetime(),
  namespace: z.string(),
  selector: z.string().optional(),
  sites: z.int().describe('how many there are'),
  states: statesSchema.describe('how many are in each state'),
  failures: z.array(failureSchema).describe('by code, the most frequent first'),
  silent: z.array(
    z.object({
      site: z.string(),
      deliveredAt: z.iso.datetime().optional(),
      heardAt: z.iso.datetime().optional().describe('by the clock of the hub; absent: never'),
      step: z.string().optional().describe('NUMBER/OF NAME, of the last report'),
    }),
  ),
  running: z
    .array(z.object({ step: z.string(), sites: z.int() }))
    .describe('in which steps the nodes are that work'),
  times: z
    .object({ sites: z.int(), medianSeconds: z.int(), slowestTenthSeconds: z.int() })
    .optional()
    .describe('from the delivery to the last report of a completed site'),
});
export type FleetStatus = z.infer<typeof fleetStatusSchema>;

/** What is to be said of silent sites: the node cannot say it. */
export const SILENT_FIX =
  'Ask a person at the site what the console shows; docs/fleet.md says where else to look.';

/** What is known of a whole fleet, of its rows. */
export function fleetStatus(
  rows: readonly SiteRowState[],
  {
    now,
    namespace,
    selector,
  }: { readonly now: Date; readonly namespace: string; readonly selector: string | undefined },
): FleetStatus {
  const counted = countsOf(rows, ({ state }) => state);
  const count = (state: SiteState) => counted.get(state) ?? 0;
  const running = countsOf(
    rows.filter(({ state }) => state === 'running'),
    ({ step }) => step ?? 'between steps',
  );
  const times = timesOf(rows);
  return {
    schemaVersion: 1,
    at: now.toISOString(),
    namespace,
    ...(selector === undefined ? {} : { selector }),
    sites: rows.length,
    states: statesOf(count),
    failures: failuresOf(rows),
    silent: rows
      .filter(({ state }) => state === 'silent')
      .map(({ name, deliveredAt, heardAt, step }) => ({
        site: name,
        ...(deliveredAt === undefined ? {} : { deliveredAt: deliveredAt.toISOString() }),
        ...(heardAt === undefined ? {} : { heardAt: heardAt.toISOString() }),
        ...(step === undefined ? {} : { step }),
      })),
    running: [...running]
      .map(([step, sites]) => ({ step, sites }))
      .toSorted((a, b) => a.step.localeCompare(b.step, 'en', { numeric: true })),
    ...(times === undefined ? {} : { times }),
  };
}

const statesOf = (count: (state: SiteState) => number): FleetStatus['states'] => ({
  failed: count('failed'),
  undelivered: count('undelivered'),
  silent: count('silent'),
  unknown: count('unknown'),
  running: count('running'),
  delivered: count('delivered'),
  rendered: count('rendered'),
  waiting: count('waiting'),
  completed: count('completed'),
  idle: count('idle'),
});

function countsOf<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, number> {
  const counts = new Map<K, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

function failuresOf(rows: readonly SiteRowState[]): FleetStatus['failures'] {
  const failed = rows.flatMap((row) =>
    row.state === 'failed' || row.state === 'undelivered' ? [{ ...row, state: row.state }] : [],
  );
  const groups = Map.groupBy(failed, ({ state, code }) => `${state} ${code ?? ''}`);
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { state, code = 'unknown', what } = first;
      const fix = group.find((row) => row.fix !== undefined)?.fix;
      return [
        {
          code,
          state,
          sites: group.map(({ name }) => name),
          ...(what === undefined ? {} : { what }),
          ...(fix === undefined ? {} : { fix }),
        },
      ];
    })
    .toSorted((a, b) => b.sites.length - a.sites.length || (a.code < b.code ? -1 : 1));
}

/** What a code means; undefined for a word that is none. */
export const meaningOf = (code: string): string | undefined =>
  isFailureCode(code) ? FAILURE_CODES[code] : undefined;

/** The last report of a completed site is the one that says so, unless a later change has another. */
function timesOf(rows: readonly SiteRowState[]): FleetStatus['times'] {
  const seconds = rows
    .filter(({ state }) => state === 'completed')
    .flatMap(({ deliveredAt, heardAt }) =>
      deliveredAt === undefined || heardAt === undefined
        ? []
        : [Math.round((heardAt.getTime() - deliveredAt.getTime()) / 1000)],
    )
    .filter((each) => each >= 0)
    .toSorted((a, b) => a - b);
  const at = (share: number) => seconds[Math.floor(share * (seconds.length - 1))] ?? 0;
  if (seconds.length === 0) return undefined;
  return { sites: seconds.length, medianSeconds: at(0.5), slowestTenthSeconds: at(0.9) };
}

/** States in which there are sites, the ones that need somebody first. */
export const presentStates = ({ states }: FleetStatus) =>
  SITE_STATE_NAMES.filter((state) => states[state] > 0).map((state) => ({
    state,
    count: states[state],
    meaning: SITE_STATES[state],
    needsSomebody: NEEDS_SOMEBODY.includes(state),
  }));
