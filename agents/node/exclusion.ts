import { Failure } from '../../lib/errors/failure.ts';
import { exists } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { isLocked } from '../../lib/steps/lock.ts';
import { notYet, type Outcome } from '../../lib/steps/step.ts';
import { requestPath as restoreRequest } from './backup/restore/request.ts';
import { requestPath as identityRequest } from './identity/request.ts';
import { requestPath as reconfigureRequest } from './reconfigure/places.ts';
import { requestPath as rotationRequest } from './rotate/request.ts';
import { requestPath as updateRequest } from './update/request.ts';

/*
 * Backup, renewal, restore, rotation, update and a change of the identity read and replace the same files. A request excludes the
 * others: their units have the condition that it does not exist, and no other request is accepted.
 * What is running when a request is written ends first.
 */

/** Why nothing else may be requested now; undefined if no backup is being restored. */
export const restoreUnderWay = async (paths: HostPaths): Promise<Failure | undefined> =>
  (await exists(restoreRequest(paths)))
    ? new Failure('usage', 'a backup is being restored', {
        fix: 'Wait for its end: see "sno-backup-restore status".',
      })
    : undefined;

/** Why nothing else may be requested now; undefined if nothing is being rotated. */
export const rotationUnderWay = async (paths: HostPaths): Promise<Failure | undefined> =>
  (await exists(rotationRequest(paths)))
    ? new Failure('usage', 'a rotation of CAs or keys is under way', {
        fix: 'Wait for its end: see "sno-rotate status".',
      })
    : undefined;

/** Why nothing else may be requested now; undefined if the host keeps its identity. */
export const identityUnderWay = async (paths: HostPaths): Promise<Failure | undefined> =>
  (await exists(identityRequest(paths)))
    ? new Failure('usage', 'the host is getting another name, address or domain', {
        fix: 'Wait for its end: see "sno-identity status".',
      })
    : undefined;

/** Why nothing else may be requested now; undefined if no update is under way. */
export const updateUnderWay = async (paths: HostPaths): Promise<Failure | undefined> =>
  (await exists(updateRequest(paths)))
    ? new Failure('usage', 'an update is under way', {
        fix: 'Wait for its end: see "sno-update status".',
      })
    : undefined;

/** Why nothing else may be requested now; undefined if the host is not getting the configuration of a site. */
export const reconfigureUnderWay = async (paths: HostPaths): Promise<Failure | undefined> =>
  (await exists(reconfigureRequest(paths)))
    ? new Failure('usage', 'the host is getting the configuration of its site', {
        fix: 'Wait for its end: see "reconfigure status".',
      })
    : undefined;

/** For the first step of a request: what is still running; undefined if it may begin. */
export async function stillRunning({ root }: HostPaths): Promise<Outcome | undefined> {
  for (const agent of ['sno-backup', 'sno-renew']) {
    if (await isLocked(agent, root)) return notYet(`${agent} is running`);
  }
  return undefined;
}
