import { removeFile } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { lastPath, readRequest, requestPath, saveRequest } from '../../../lib/identity/request.ts';

export {
  type IdentityRequest,
  identityFolder,
  readLast,
  readRequest,
  requestPath,
  writeRequest,
} from '../../../lib/identity/request.ts';

/** Ends the change. The record is written first: whoever waits for the end reads it. */
export async function endRequest(paths: HostPaths): Promise<void> {
  const request = await readRequest(paths);
  if (request === undefined) return;
  await saveRequest(lastPath(paths), request);
  await removeFile(requestPath(paths));
}

/** Ends a change that holds nothing back (`isHeld`), without a record: nothing was changed, or everything was. */
export async function withdrawRequest(paths: HostPaths): Promise<void> {
  await removeFile(requestPath(paths));
}
