import { stat } from 'node:fs/promises';
import { exists } from '../host/files.ts';
import { payloadFile, payloadPath, readPayload } from './payload.ts';
import { payloadFiles } from './verify.ts';

/**
 * Total size in bytes of the files that a payload names; 0 if there is no payload
 * yet, such as before it is fetched.
 */
export async function payloadBytes(directory: string): Promise<number> {
  if (!(await exists(`${directory}/${payloadFile}`))) return 0;
  const payload = await readPayload(directory);
  const sizes = payloadFiles(payload).map(
    async ({ path }) => (await stat(await payloadPath(payload, path))).size,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
