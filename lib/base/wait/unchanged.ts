/** Name to value; a value that was left out is no value. */
export type Facts = ReadonlyMap<string, string | null | undefined>;

/** Since when what is watched has not changed; `Found` is a reason why it is not settled. */
export interface Unchanged<Found> {
  /** What must not change; undefined before the first look. */
  readonly facts: Facts | undefined;
  /** What keeps it from being settled; empty if nothing does. */
  readonly unsettled: readonly Found[];
  /** What the last look found changed, such as `kube-scheduler-n1 restarts: 0 -> 1`. */
  readonly changes: readonly string[];
  /** Since when nothing has been unsettled and nothing has changed. */
  readonly since?: Date;
}

export const neverSeen: Unchanged<never> = { facts: undefined, unsettled: [], changes: [] };

/** The state after another look: anything unsettled and any change starts the time again. */
export function look<Found>(
  before: Pick<Unchanged<Found>, 'facts' | 'since'>,
  at: Date,
  facts: Facts,
  unsettled: readonly Found[],
): Unchanged<Found> {
  const changes = before.facts === undefined ? [] : differences(before.facts, facts);
  if (unsettled.length > 0) return { facts, unsettled, changes };
  const since = changes.length === 0 ? (before.since ?? at) : at;
  return { facts, unsettled, changes, since };
}

/** Milliseconds until nothing has changed for the window, if nothing will; undefined while something is unsettled. */
export function leftMs(
  { since }: Pick<Unchanged<unknown>, 'since'>,
  now: Date,
  windowMs: number,
): number | undefined {
  return since === undefined ? undefined : Math.max(0, since.getTime() + windowMs - now.getTime());
}

function differences(before: Facts, now: Facts): string[] {
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names]
    .filter((name) => before.get(name) !== now.get(name))
    .map((name) => `${name}: ${before.get(name) ?? 'none'} -> ${now.get(name) ?? 'none'}`);
}
