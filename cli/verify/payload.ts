import { Failure } from '../../lib/base/errors/failure.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { plural } from '../../report/reading/words.ts';
import { type AcceptOptions, acceptedVersions } from '../payload/accept.ts';
import { payloadFaults } from '../payload/check.ts';
import { versionFaults } from '../payload/measured.ts';
import { payloadTable } from '../payload/table.ts';
import type { Surroundings } from '../surroundings.ts';

/** `sno verify payload DIR`: @throws Failure (usage) with every fault of the folder, or for its versions */
export async function verifyPayloadFolder(
  directory: string,
  options: AcceptOptions,
  { print, notice, signal }: Pick<Surroundings, 'print' | 'notice' | 'signal'>,
): Promise<void> {
  const payload = await readPayload(directory);
  const faults = await payloadFaults(payload, signal);
  // Of damaged files nothing is concluded.
  if (faults.length === 0) faults.push(...(await versionFaults(payload, signal)));
  if (faults.length > 0) {
    const head = `${directory} has ${plural(faults.length, 'error')}:`;
    throw new Failure('usage', [head, ...faults.map((fault) => `  ${fault}`)].join('\n'));
  }
  const notices = acceptedVersions(directory, payload.versions, 'run', options);
  for (const line of await payloadTable(payload, signal)) print(line);
  for (const text of notices) notice(text);
}
