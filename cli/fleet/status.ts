import { parseDuration } from '../../lib/base/duration.ts';
import { inOneLine } from '../../lib/base/printable.ts';
import { tableLines } from '../../lib/base/table.ts';
import { duration, plural, some } from '../../report/reading/words.ts';
import type { Surroundings } from '../surroundings.ts';
import { type ReadSitesOptions, readSites } from './read-sites.ts';
import { type SiteRowState, stateOf } from './site-state.ts';
import { type FleetStatus, fleetStatus, presentStates, SILENT_FIX } from './summary.ts';

export interface FleetStatusOptions extends ReadSitesOptions {
  /** Such as `30m`. */
  readonly silentAfter: string;
  readonly json?: true;
}

/** The fleet of a hub as it is now. @throws Failure (usage); KubeError */
export async function seenFleet(
  options: FleetStatusOptions,
  surroundings: Pick<Surroundings, 'environment' | 'signal'>,
): Promise<{ readonly rows: readonly SiteRowState[]; readonly status: FleetStatus }> {
  const silentMs = parseDuration('--silent-after', options.silentAfter);
  const seen = await readSites(options, surroundings);
  const now = new Date();
  const rows = seen.map((site) => stateOf(site, now, silentMs));
  const { namespace, selector } = options;
  return { rows, status: fleetStatus(rows, { now, namespace, selector }) };
}

/** `sno fleet status` */
export async function printFleetStatus(
  options: FleetStatusOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { status } = await seenFleet(options, surroundings);
  const { print } = surroundings;
  if (options.json === true) print(JSON.stringify(status, null, 2));
  else for (const line of statusLines(status)) print(line);
}

const MOST_NAMED = 5;

/** The status for a terminal. Names and messages are those of others: each is in one line. */
export function statusLines(status: FleetStatus): string[] {
  const { sites, namespace, selector, failures, silent, running, times, at } = status;
  const where = `in the namespace ${namespace}${selector === undefined ? '' : ` with ${selector}`}`;
  if (sites === 0) return [`No Sites ${where}`];
  const states = presentStates(status).map(({ state, count, meaning }) => [
    state.toUpperCase(),
    `${count}`,
    meaning,
  ]);
  return [
    `${plural(sites, 'Site')} ${where}`,
    '',
    ...tableLines(states, [1]),
    ...(running.length === 0 ? [] : ['', 'Steps of those that work:']),
    ...tableLines(
      running.map(({ step, sites: count }) => [`  ${inOneLine(step)}`, `${count}`]),
      [1],
    ),
    ...failures.flatMap(failureLines),
    ...silentLines(silent, Date.parse(at)),
    ...(times === undefined
      ? []
      : [
          '',
          `From delivery to done: half within ${duration(times.medianSeconds * 1000)}, nine of ten within ${duration(times.slowestTenthSeconds * 1000)}`,
        ]),
  ];
}

function failureLines({ code, state, sites, what, fix }: FleetStatus['failures'][number]) {
  return [
    '',
    `${inOneLine(code)}: ${plural(sites.length, 'site')} ${state}: ${some(sites, MOST_NAMED)}`,
    ...(what === undefined ? [] : [`  ${inOneLine(what)}`]),
    ...(fix === undefined ? [] : [`  Fix: ${inOneLine(fix)}`]),
  ];
}

function silentLines(silent: FleetStatus['silent'], now: number): string[] {
  if (silent.length === 0) return [];
  const since = (each: (typeof silent)[number]) =>
    duration(now - Date.parse(each.heardAt ?? each.deliveredAt ?? ''));
  const named = silent.map(
    (each) =>
      `${each.site} (${each.heardAt === undefined ? 'never heard of, ' : ''}${since(each)})`,
  );
  return [
    '',
    `Silent: ${plural(silent.length, 'site')}: ${some(named, MOST_NAMED)}`,
    `  Fix: ${SILENT_FIX}`,
  ];
}
