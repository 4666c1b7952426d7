import { stat } from 'node:fs/promises';
import { Failure } from '../../lib/errors/failure.ts';
import type { Host } from '../host/host.ts';
import { waitForFailure } from '../host/unit-state.ts';
import type { Installation } from '../installation.ts';

const REFUSAL_MS = 4 * 60_000;

export interface Refusal {
  /** The unit that refuses. Default: bootkube. */
  readonly unit?: 'bootkube' | 'sno-executable';
  /** Its exit code. */
  readonly exitCode: number;
  /** Patterns that its journal must contain. */
  readonly says: readonly RegExp[];
  /** Rules with findings in the log bundle made by the failed unit. */
  readonly finds?: readonly string[];
}

/**
 * The unit must end with that exit code and state the reason; install-to-disk must not
 * continue, and not one byte of the disk may change.
 */
export async function expectRefusal(
  run: Installation,
  host: Host,
  { unit = 'bootkube', exitCode, says }: Refusal,
): Promise<void> {
  const { signal } = run.context;
  const before = await lastWrite(run);
  const found = await waitForFailure(host, `${unit}.service`, REFUSAL_MS, signal);
  if (found !== exitCode) {
    throw new Failure('fatal', `${unit} ended with an unexpected exit code`, {
      expected: `${exitCode}`,
      found: `${found}`,
    });
  }
  // It requires the executable: without it, it is never started.
  if (unit === 'bootkube') {
    await waitForFailure(host, 'install-to-disk.service', REFUSAL_MS, signal);
  }
  const read = ['journalctl', '-u', unit, '-o', 'cat', '--no-pager'];
  const journal = (await host.exec(read, { timeoutMs: 20_000 }, signal)).stdout;
  for (const text of says) {
    if (!text.test(journal)) {
      throw new Failure('fatal', `${unit} does not log the expected reason`, {
        expected: text.source,
        found: journal.split('\n').slice(-6).join(' | '),
      });
    }
  }
  if ((await lastWrite(run)) !== before) throw new Failure('fatal', 'the disk was written to');
}

/** Last write to the disk's file, in nanoseconds: a loop device writes through to it. */
async function lastWrite(run: Installation): Promise<bigint> {
  return (await stat(run.site.disk.file, { bigint: true })).mtimeNs;
}
