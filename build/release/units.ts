import { ownAioUnits } from '../../units/aio.ts';
import { nodeUnits, pivotUnits } from '../../units/installed.ts';
import { liveUnits } from '../../units/live.ts';
import type { Entry } from './tarball.ts';

/** The units, for reading or for adding to an image: Ignition has its own copies. */
export function unitEntries(): Entry[] {
  const of = (host: string, units: typeof liveUnits): Entry[] =>
    units.map(({ name, contents }) => ({
      path: `share/sno-agents/units/${host}/${name}`,
      contents,
    }));
  return [
    ...of('live', liveUnits),
    ...of('installed', [...nodeUnits, ...pivotUnits]),
    ...of('aio', ownAioUnits),
  ];
}
