import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { failureData } from '../../lib/base/errors/failure-data.ts';
import { beginChange, changeUnderWay } from '../../lib/change/exclusion.ts';
import { beforeFolder } from '../../lib/change/site/places.ts';
import { siteChange } from '../../lib/change/site/request.ts';
import { updateChange } from '../../lib/change/update/request.ts';
import { readKept, returnToKept } from '../../lib/engine/trial/kept.ts';
import { readLast } from '../../lib/engine/trial/store.ts';
import { wasAsked } from '../../lib/engine/trial/trial.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { describeReconfigure } from './context.ts';
import { wayBackEnd } from './way-back-end.ts';

const COMMAND_MS = 300_000;

/**
 * Brings the host back to what it was before its last site, with a restart. Workloads lose what they have written to the
 * API since; their volumes stay.
 *
 * @throws Failure (usage) with the reason why it is too late
 */
export async function rollback(
  paths: HostPaths,
  settings: Settings,
  now: Date,
): Promise<{ readonly what: string; go(): Promise<void> }> {
  const result = await siteChange.last(paths);
  const kept = await readKept(beforeFolder(paths));
  const refused = (found: string) =>
    new Failure('usage', 'the host cannot be brought back', {
      expected: `what was before it, which is kept for ${settings.reconfigureReturnHours} hours`,
      found,
    });
  if (kept === undefined)
    throw refused('nothing: it was committed, or the host has had no other site');
  if (result?.outcome !== 'configured') throw refused('no site configuration in use');
  const end = await wayBackEnd(paths, settings);
  if (end !== undefined && now > new Date(end.until)) {
    throw refused(`one of ${result.endedAt}, whose way back ended ${end.until}: ${end.because}`);
  }
  const update = await updateChange.last(paths);
  // Also one that was refused: only the last is known, and one before it may have been carried out. Of times, a clock that was
  // set in between would say nothing; and where an earlier release wrote the result, an update brought this one.
  if (update !== undefined && update.id !== result.afterUpdate) {
    throw refused(`an update of ${update.endedAt}, which it would take back in part`);
  }
  const other = await changeUnderWay(paths);
  if (other !== undefined) throw other;
  const reason = failureData(
    new Failure('usage', 'it was taken back by "reconfigure rollback"', {
      code: 'way-back-requested',
    }),
  );
  const go = () =>
    beginChange(paths, () =>
      returnToKept(
        paths,
        beforeFolder(paths),
        { id: randomUUID(), reason },
        AbortSignal.timeout(COMMAND_MS),
      ),
    );
  return { what: kept.what, go };
}

/**
 * Once the host has gone back: its last site is not in use any more, nor is the way back. The volume may be used again.
 * It is written at the next look for a volume, since the way back itself ends with a restart.
 */
export async function recordWayBack(paths: HostPaths): Promise<void> {
  const result = await siteChange.last(paths);
  const last = await readLast(paths);
  if (result?.outcome !== 'configured' || last === undefined || !wasAsked(last)) return;
  // The trial of the way back has an id of its own. Of times, a clock that was set in between would say nothing.
  if (last.what !== describeReconfigure(result)) return;
  await rm(beforeFolder(paths), { recursive: true, force: true });
  const { endedAt, reason } = last;
  await siteChange.writeResult(paths, {
    ...result,
    endedAt,
    outcome: 'reverted',
    ...(reason === undefined ? {} : { failure: reason }),
  });
}

/** Gives up the way back. @throws Failure (usage) if there is no way back */
export async function commit(paths: HostPaths): Promise<string> {
  const kept = await readKept(beforeFolder(paths));
  if (kept === undefined) throw new Failure('usage', 'nothing is kept of the host from before');
  await rm(beforeFolder(paths), { recursive: true, force: true });
  return kept.what;
}
