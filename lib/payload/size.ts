import { exists } from '../host/files.ts';
import { payloadFile, payloadPath, readPayload } from './payload.ts';
import { isCompressed, payloadFiles, storedFiles } from './verify.ts';

export interface PayloadSize {
  /** Total of the files as a host uses them. */
  readonly bytes: number;
  /** Whether the folder has them compressed. */
  readonly isCompressed: boolean;
}

/**
 * The size of a payload on a medium, as it states it; nothing if there is none yet, such as before it is fetched.
 * @throws Failure (usage) if a file is missing
 */
export async function payloadSize(directory: string): Promise<PayloadSize> {
  if (!(await exists(`${directory}/${payloadFile}`))) return { bytes: 0, isCompressed: false };
  const payload = await readPayload(directory);
  for (const { path } of storedFiles(payload)) await payloadPath(payload, path);
  const bytes = payloadFiles(payload).reduce((sum, { size }) => sum + size, 0);
  return { bytes, isCompressed: isCompressed(payload) };
}
