import type { FailureData } from '../base/errors/failure-data.ts';
import { readLast, readTrial } from '../engine/trial/store.ts';
import type { HostPaths } from '../host/paths.ts';
import type { CanFail, Change } from './change.ts';

/** `refused`: it failed before anything was changed; `reverted`: it was taken back. */
export type ChangeOutcome<Kept extends string> = Kept | 'refused' | 'reverted';

/** How a change that was on trial ended. */
export interface Ending<Kept extends string> {
  readonly outcome: ChangeOutcome<Kept>;
  readonly failure: FailureData | undefined;
}

/**
 * How a change ends that was on trial, by the record of its trial; undefined while the host restarts to go back. `kept`
 * is the outcome of one that stays.
 */
export async function endingOf<Kept extends string>(
  { read }: Pick<Change<CanFail, unknown>, 'read'>,
  paths: HostPaths,
  { id, kept }: { readonly id: string; readonly kept: Kept },
): Promise<Ending<Kept> | undefined> {
  if ((await readTrial(paths))?.reverting !== undefined) return undefined;
  const last = await readLast(paths);
  if (last?.id !== id) return { outcome: 'refused', failure: (await read(paths))?.failure };
  return { outcome: last.outcome === 'confirmed' ? kept : 'reverted', failure: last.reason };
}

/** The result of a request that ended so, as it is recorded. */
export const endedAs =
  <Kept extends string>({ outcome, failure }: Ending<Kept>) =>
  <Request extends CanFail>(request: Request) => ({
    ...request,
    ...(failure === undefined ? {} : { failure }),
    endedAt: new Date().toISOString(),
    outcome,
  });

/** What `status` says of the change of this kind that ended last; `what` names it. */
export function lastText(
  what: string,
  { outcome, endedAt }: { readonly outcome: string; readonly endedAt: string },
): string {
  const how = { refused: 'failed before anything was changed', reverted: 'was taken back' };
  const said = outcome === 'refused' || outcome === 'reverted' ? how[outcome] : 'is in use';
  return `last: ${what} ${said}, ${endedAt}\n`;
}
