import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { holds, waitUntil } from '../../lib/base/wait/wait-until.ts';
import { exists } from '../../lib/host/files.ts';
import { payloadFile, readPayload } from '../../lib/payload/payload.ts';
import type { Host } from '../host/host.ts';
import { patient } from '../patience.ts';

const LOOK_EVERY_MS = 25;
const DEADLINE_MS = 5 * 60_000;

/**
 * Waits until the agent that brings the payload has imported its images and installs its binaries: what is unpacked is
 * not synced yet. A power cut then leaves images by name whose files are empty.
 */
export async function importEnded(
  { rootDir }: Pick<Host, 'rootDir'>,
  signal: AbortSignal,
): Promise<void> {
  const state = join(rootDir, 'var/lib/sno-agents');
  const deadlineMs = patient(DEADLINE_MS);
  await waitUntil(
    holds(() => installsBinaries(state), 'the images of the payload were not imported'),
    {
      signal,
      deadlineMs,
      everyMs: patient(LOOK_EVERY_MS),
      late: (last) =>
        new Failure('deadline', last.state, { expected: `within ${deadlineMs / 1000}s` }),
    },
  );
}

/** A binary in its place, or the file beside it that becomes it. */
async function installsBinaries(state: string): Promise<boolean> {
  const folder = join(state, 'payload');
  if (!(await exists(join(folder, payloadFile)))) return false;
  for (const { name, kind } of (await readPayload(folder)).binaries) {
    if (kind !== 'host') continue;
    for (const file of [name, `.${name}.new`]) {
      if (await exists(join(state, 'bin', file))) return true;
    }
  }
  return false;
}
