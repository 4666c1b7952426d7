import { Failure } from '../../lib/base/errors/failure.ts';
import type { Host } from '../host/host.ts';
import { waitForFailure } from '../host/unit-state.ts';
import type { Installation } from '../installation.ts';
import { patient } from '../patience.ts';

const REFUSAL_MS = 4 * 60_000;

export interface Refusal {
  /** The unit that refuses. Default: bootkube. */
  readonly unit?: 'bootkube' | 'sno-executable' | 'aiokube';
  /** Its exit code. */
  readonly exitCode: number;
  /** Patterns that its journal must contain. */
  readonly says: readonly RegExp[];
  /** Rules with findings in the log bundle made by the failed unit. */
  readonly finds?: readonly string[];
}

/** The unit must end with that exit code and state the reason. */
export async function expectFailure(
  host: Host,
  { unit = 'bootkube', exitCode, says }: Refusal,
  signal: AbortSignal,
): Promise<void> {
  const found = await waitForFailure(host, `${unit}.service`, patient(REFUSAL_MS), signal);
  if (found !== exitCode) {
    throw new Failure('fatal', `${unit} ended with an unexpected exit code`, {
      expected: `${exitCode}`,
      found: `${found}`,
    });
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
}

/** Boots the live host; returns the state of its disk from before its agents have started. */
export async function bootWithDisk(run: Installation, label?: string): Promise<bigint> {
  let before: bigint | undefined;
  await run.bootLive(label, async (early) => {
    before = await early.diskState();
  });
  if (before === undefined) throw new Error('the live host was not looked at');
  return before;
}

/**
 * The same on the live host that runs; install-to-disk must not continue, and not one byte of the disk may change.
 *
 * @param before state of the disk before the agents have started
 */
export async function expectRefusal(
  run: Installation,
  before: bigint,
  refusal: Refusal,
): Promise<void> {
  const { signal } = run.context;
  const host = run.booted;
  await expectFailure(host, refusal, signal);
  // It requires the executable: without it, it is never started.
  if (refusal.unit !== 'sno-executable') {
    await waitForFailure(host, 'install-to-disk.service', patient(REFUSAL_MS), signal);
  }
  if ((await host.diskState()) !== before) throw new Failure('fatal', 'the disk was written to');
}
