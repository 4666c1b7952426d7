import { join } from 'node:path';
import { UPDATE_FILES } from '../../../lib/change/update/manifest.ts';
import { updateFolder } from '../../../lib/change/update/request.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

/** The new executable and payload until they replace those in use: on the same file system. */
export const nextFolder = (paths: Pick<HostPaths, 'state'>) => join(updateFolder(paths), 'next');
export const nextExecutable = (paths: Pick<HostPaths, 'state'>) =>
  join(nextFolder(paths), UPDATE_FILES.executable);
export const nextPayload = (paths: Pick<HostPaths, 'state'>) =>
  join(nextFolder(paths), UPDATE_FILES.payload);

/** What the new executable needs on this host. */
export const preparedPath = (paths: Pick<HostPaths, 'state'>) =>
  join(updateFolder(paths), 'prepared.json');

/** The payload from before the update, until the update is confirmed; paths on the host. */
export const movedPayload = {
  path: '/var/lib/sno-agents/payload',
  aside: '/var/lib/sno-agents/sno-trial/payload',
} as const;
