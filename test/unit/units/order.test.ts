/** systemd deletes jobs to break a cycle of After= and Before=: such a host may boot without its network. */
import t from 'tap';
import { aioUnits } from '../../../units/aio.ts';
import { nodeUnits, pivotUnits } from '../../../units/installed.ts';
import { liveUnits, networkUnit } from '../../../units/live.ts';
import type { UnitFile } from '../../../units/unit-file.ts';
import { workerUnits } from '../../../units/worker.ts';
import { parseUnit } from './unit-text.ts';

/** The order of the operating system's own units: each is after those behind it. */
const SYSTEM: Readonly<Record<string, readonly string[]>> = {
  'NetworkManager.service': ['network-pre.target', 'dbus.service'],
  'network.target': ['NetworkManager.service'],
  'NetworkManager-wait-online.service': ['NetworkManager.service'],
  'network-online.target': ['NetworkManager-wait-online.service', 'network.target'],
  'containerd.service': ['network.target', 'local-fs.target'],
  'crio.service': ['network-online.target'],
};

const HOSTS: Readonly<Record<string, readonly UnitFile[]>> = {
  live: [...liveUnits, networkUnit],
  installed: [...nodeUnits, ...pivotUnits],
  'all-in-one by URL': [...aioUnits('url'), networkUnit],
  'all-in-one with a medium': [...aioUnits('medium'), networkUnit],
  worker: [...workerUnits('url'), networkUnit],
};

/** What each unit is started after. */
function orderOf(files: readonly UnitFile[]): Map<string, string[]> {
  const after = new Map(Object.entries(SYSTEM).map(([name, others]) => [name, [...others]]));
  const add = (unit: string, other: string) => after.set(unit, [...(after.get(unit) ?? []), other]);
  for (const { name, contents } of files.filter((file) =>
    /\.(service|timer|path)$/.test(file.name),
  )) {
    const unit = parseUnit(contents);
    // systemd.timer(5), systemd.path(5): implicitly before what they start.
    if (!name.endsWith('.service')) add(name.replace(/\.\w+$/, '.service'), name);
    for (const other of unit.get('After') ?? []) add(name, other);
    for (const other of unit.get('Before') ?? []) add(other, name);
  }
  return after;
}

/** The units of a cycle, if there is one. */
function cycleIn(after: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const fine = new Set<string>();
  const visit = (unit: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(unit)) return [...path.slice(path.indexOf(unit)), unit];
    if (fine.has(unit)) return undefined;
    for (const other of after.get(unit) ?? []) {
      const found = visit(other, [...path, unit]);
      if (found !== undefined) return found;
    }
    fine.add(unit);
    return undefined;
  };
  for (const unit of after.keys()) {
    const found = visit(unit, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

for (const [host, files] of Object.entries(HOSTS)) {
  t.test(`the units of a host have an order: ${host}`, async (t) => {
    t.equal(cycleIn(orderOf(files))?.join(' after '), undefined);
  });
}

t.test('a cycle is found', async (t) => {
  t.same(
    cycleIn(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['a']],
      ]),
    ),
    ['a', 'b', 'c', 'a'],
  );
});
