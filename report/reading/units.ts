import type { BundleView, Evidence } from '../bundle-view.ts';
import { evidence, whereSaid } from './evidence.ts';
import type { BundleHost } from './hosts.ts';
import { listAt, parseTime, textAt } from './values.ts';

/** State of a systemd unit when the bundle was collected. */
export interface ReportedUnit {
  /** Including its suffix, such as `kubelet.service`. */
  readonly name: string;
  /** `loaded`, `masked` …; empty if systemd did not report it. */
  readonly load: string;
  readonly active: string;
  readonly sub: string;
  /** `exit-code`, `timeout` …, if systemd reported a result besides the state. */
  readonly result?: string | undefined;
  readonly exitStatus?: string | undefined;
  readonly restarts?: number | undefined;
  /** When it entered this state. */
  readonly sinceMs?: number | undefined;
  readonly evidence: readonly Evidence[];
}

/** systemd also lists units that others only refer to, and deleted ones that it still remembers. */
const NOT_FOUND = 'not-found';

/** The units of a host that exist, by name; empty if its systemd did not answer. */
export function unitsOf(view: BundleView, { folder }: BundleHost): Map<string, ReportedUnit> {
  const listed = `${folder}systemd/units.json`;
  const units = new Map<string, ReportedUnit>();
  for (const raw of listAt(view.json(listed))) {
    const name = textAt(raw, 'unit');
    if (name === undefined) continue;
    const state = (field: string) => textAt(raw, field) ?? '';
    const [load, active, sub] = [state('load'), state('active'), state('sub')];
    units.set(name, { name, load, active, sub, evidence: [] });
  }
  for (const shown of shownUnits(view, `${folder}systemd/show.txt`)) units.set(shown.name, shown);
  for (const [name, unit] of units) {
    if (unit.load === NOT_FOUND) {
      units.delete(name);
    } else if (unit.evidence.length === 0 && unit.active === 'failed') {
      units.set(name, { ...unit, evidence: whereSaid(view, listed, `"${name}"`) });
    }
  }
  return units;
}

function shownUnits(view: BundleView, path: string): ReportedUnit[] {
  const units: ReportedUnit[] = [];
  let block = new Map<string, string>();
  let first = 1;
  const end = (next: number) => {
    const name = block.get('Id');
    if (name !== undefined) units.push(unitOf(name, block, path, first));
    block = new Map();
    first = next;
  };
  view.lines(path).forEach((line, index) => {
    const equals = line.indexOf('=');
    if (line.trim() === '') end(index + 2);
    else if (equals > 0) block.set(line.slice(0, equals), line.slice(equals + 1));
  });
  end(0);
  return units;
}

function unitOf(
  name: string,
  shown: Map<string, string>,
  path: string,
  line: number,
): ReportedUnit {
  const text = (key: string) => shown.get(key) ?? '';
  const sinceMs = parseTime(shown.get('StateChangeTimestamp') || undefined);
  const restarts = Number(text('NRestarts'));
  const said = ['ActiveState', 'SubState', 'Result', 'ExecMainStatus', 'StateChangeTimestamp']
    .filter((key) => text(key) !== '')
    .map((key) => `${key}=${text(key)}`);
  return {
    name,
    load: text('LoadState'),
    active: text('ActiveState'),
    sub: text('SubState'),
    result: text('Result') || undefined,
    exitStatus: text('ExecMainStatus') || undefined,
    restarts: Number.isFinite(restarts) ? restarts : undefined,
    sinceMs,
    evidence: [evidence(path, line, [`Id=${name}`, ...said].join(' '))],
  };
}
