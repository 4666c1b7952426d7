import { Failure } from '../../lib/base/errors/failure.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { plural } from '../../report/reading/words.ts';
import { payloadFaults } from '../payload/check.ts';
import { payloadTable } from '../payload/table.ts';
import type { Surroundings } from '../surroundings.ts';

/** `sno verify payload DIR`: @throws Failure (usage) with every fault of the folder. */
export async function verifyPayloadFolder(
  directory: string,
  { print, signal }: Pick<Surroundings, 'print' | 'signal'>,
): Promise<void> {
  const payload = await readPayload(directory);
  const faults = await payloadFaults(payload, signal);
  if (faults.length > 0) {
    const head = `${directory} has ${plural(faults.length, 'error')}:`;
    throw new Failure('usage', [head, ...faults.map((fault) => `  ${fault}`)].join('\n'));
  }
  for (const line of await payloadTable(payload, signal)) print(line);
}
