import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { failureData } from '../../../lib/base/errors/failure-data.ts';
import { beginChange, requireIdle } from '../../../lib/change/exclusion.ts';
import { updateChange } from '../../../lib/change/update/request.ts';
import {
  type AskedUpdate,
  isDecided,
  readAsked,
  readWanted,
  removeWanted,
  type WantedUpdate,
  writeAsked,
} from '../../../lib/change/update/wanted.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { acceptUpdate } from './accept.ts';

/** What is to be done, and a sentence for the journal if there is something to say. */
export interface TakenUp {
  readonly isRequested: boolean;
  readonly said?: string;
}

/**
 * Makes the update that a hub asks for a request, by the same rules as one of a person. Why it is none is kept for the report.
 * What may pass is tried again whenever the hub is asked again.
 */
export async function takeUp(
  paths: HostPaths,
  signal: AbortSignal,
  accept: typeof acceptUpdate = acceptUpdate,
): Promise<TakenUp> {
  if ((await updateChange.read(paths)) !== undefined) return { isRequested: true };
  const wanted = await readWanted(paths);
  if (wanted === undefined) return { isRequested: false };
  if (isDecided(await readAsked(paths), wanted)) {
    await removeWanted(paths);
    return { isRequested: false };
  }
  try {
    await requireIdle(paths, 'update');
  } catch (error) {
    return decided(paths, wanted, { outcome: 'waiting', error });
  }
  const { url: from, update: serial } = wanted;
  try {
    const order = { from, serial, accepted: { removedApis: false } };
    const request = await accept(paths, order, signal);
    if (request === undefined) return await decided(paths, wanted, { outcome: 'present' });
    // With what asks for it: an interruption after this leaves a request that is carried out once.
    const asked = { ...request, asked: wanted.serial };
    try {
      await beginChange(paths, () => updateChange.write(paths, asked));
    } catch (error) {
      return await decided(paths, wanted, { outcome: 'waiting', error });
    }
    return { ...(await decided(paths, wanted, { outcome: 'accepted' })), isRequested: true };
  } catch (error) {
    signal.throwIfAborted();
    const isFinal = error instanceof Failure && ['usage', 'fatal'].includes(error.kind);
    return decided(paths, wanted, { outcome: isFinal ? 'refused' : 'waiting', error });
  }
}

async function decided(
  paths: HostPaths,
  { site, serial, url, update }: WantedUpdate,
  { outcome, error }: Pick<AskedUpdate, 'outcome'> & { readonly error?: unknown },
): Promise<TakenUp> {
  await writeAsked(paths, {
    schemaVersion: 1,
    ...{ site, serial, outcome },
    at: new Date().toISOString(),
    ...(error === undefined ? {} : { failure: failureData(error) }),
  });
  if (outcome !== 'waiting') await removeWanted(paths);
  const why = error === undefined ? '' : `: ${describeError(error)}`;
  return { isRequested: false, said: `the update ${update} from ${url} is ${SAID[outcome]}${why}` };
}

const SAID: Readonly<Record<AskedUpdate['outcome'], string>> = {
  accepted: 'accepted, as the hub asks for it',
  waiting: 'not taken yet',
  refused: 'refused',
  present: 'what this host runs already',
};
