import type { BundleView, Found, Rule } from '../bundle-view.ts';
import { type BundleHost, hostsIn } from '../reading/hosts.ts';
import { type JournalLine, linesLike } from '../reading/journal.ts';
import { unitsOf } from '../reading/units.ts';

/** Of systemd's manager (src/core/transaction.c), before and since version 258. */
const DELETED =
  /Job (?<job>\S+)\/\w[\w-]* deleted to break ordering cycle(?: starting with (?<first>\S+)\/[\w-]+)?|deleting job (?<job>\S+)\/[\w-]+ to break ordering cycle/;

export const orderingCycle: Rule = {
  name: 'ordering-cycle',
  looksFor:
    'units that systemd did not start in this boot, because it deleted their jobs to break an ordering cycle: they are inactive, and none of them has failed',
  todo: 'Find the ordering (After=, Before=) that closes the cycle, most likely in a drop-in: "systemctl cat UNIT". Take it back, run "systemctl daemon-reload", then "systemctl start UNIT".',
  find: (view) => hostsIn(view).flatMap((host) => dropped(view, host)),
};

function dropped(view: BundleView, host: BundleHost): Found[] {
  const units = unitsOf(view, host);
  const byUnit = Map.groupBy(lines(view, host), ({ text }) => groups(text).job ?? '');
  return Array.from(byUnit, ([unit, said]) => {
    const [line] = said.toSorted((a, b) => b.atMs - a.atMs);
    const first = groups(line?.text ?? '').first;
    const isUp = units.get(unit)?.active === 'active';
    const cycle =
      first === undefined ? 'an ordering cycle' : `an ordering cycle that ${first} is in`;
    return {
      severity: isUp ? 'warning' : 'failing',
      title: `systemd did not start ${unit}: it dropped its job to break ${cycle}${isUp ? '; it was started later' : ''}`,
      sinceMs: line?.atMs,
      evidence: line === undefined ? [] : [line.evidence],
      todo: orderingCycle.todo.replaceAll('UNIT', unit),
    };
  });
}

/** Each message is in the journal of the unit and among the errors. */
const lines = (view: BundleView, { folder }: BundleHost): JournalLine[] =>
  view
    .paths()
    .filter((path) => path.startsWith(`${folder}journals/`) && !path.includes('/previous-'))
    .flatMap((path) => linesLike(view, path, DELETED));

const groups = (text: string) => DELETED.exec(text)?.groups ?? {};
