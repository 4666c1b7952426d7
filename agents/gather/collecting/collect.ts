import { describeError } from '../../../lib/base/errors/failure.ts';
import type { Redactor } from '../../../lib/secrets/redact/redactor.ts';
import { StreamLost } from '../../../lib/secrets/threads/redaction-thread.ts';
import type { GatherOutcome } from '../../../report/gather-record.ts';
import { type GatherHost, patient } from '../gather-host.ts';
import type { Source } from '../source.ts';
import { graceAfter, Limit, untilAborted } from './abort.ts';
import { Spooled, type SpoolPlace } from './spool.ts';

/** Time for redacting what was read before the deadline. */
const GRACE_MS = 5000;

export interface CollectOptions {
  readonly host: GatherHost;
  readonly redactor: Redactor;
  readonly place: SpoolPlace;
  /** Number of sources collected concurrently. */
  readonly concurrency: number;
  /** Ends the collection; what sources have delivered by then is kept. */
  readonly signal: AbortSignal;
  /** Called with each spool before it is filled, e.g. to free space held by another one. */
  began?(source: Source, spooled: Spooled): void;
  /** Receives each non-empty file and must remove it. Rejects if it was not added to the bundle. */
  take(source: Source, spooled: Spooled): Promise<void>;
  /** Called for each finished source. */
  ended(outcome: GatherOutcome): void;
  /** Whether an error of `take` ends the whole collection and not just one file. */
  isFatal(error: unknown): boolean;
}

/**
 * Collects sources concurrently, each within its own deadline and limit. A source's failure is
 * an outcome like any other: only a fatal error of `take` rejects.
 */
export async function collect(sources: readonly Source[], options: CollectOptions): Promise<void> {
  const queue = sources.values();
  using limit = new Limit([options.signal]);
  const { signal } = limit;
  const worker = async () => {
    for (const source of queue) {
      try {
        options.ended(await collectOne(source, { ...options, signal }));
      } catch (error) {
        limit.abort(error);
        throw error;
      }
    }
  };
  const workers = Array.from({ length: options.concurrency }, worker);
  const results = await Promise.allSettled(workers);
  const rejected = results.find((result) => result.status === 'rejected');
  if (rejected !== undefined) throw rejected.reason;
}

async function collectOne(source: Source, options: CollectOptions): Promise<GatherOutcome> {
  const { place, signal } = options;
  const begun = performance.now();
  const outcome = ({
    bytes,
    leftOut,
    failure,
  }: Pick<GatherOutcome, 'bytes' | 'leftOut' | 'failure'>) => ({
    path: source.path,
    seconds: Math.round(performance.now() - begun) / 1000,
    bytes,
    leftOut,
    ...(failure === undefined ? {} : { failure }),
  });
  if (signal.aborted) {
    return outcome({
      bytes: 0,
      leftOut: 0,
      failure: `not started: ${describeError(signal.reason)}`,
    });
  }
  const spooled = new Spooled(place.room, source);
  options.began?.(source, spooled);
  let failure = await fill(spooled, source, options);
  // Each time another source has ended the thread, and is not read again.
  while (failure instanceof StreamLost && !signal.aborted) {
    await spooled.restart();
    failure = await fill(spooled, source, options);
  }
  const { plainBytes: bytes, leftOut } = spooled;
  try {
    if (bytes > 0) await options.take(source, spooled);
    else await spooled.remove();
    const reason = failure === undefined ? {} : { failure: describeError(failure) };
    return outcome({ bytes, leftOut, ...reason });
  } catch (error) {
    await spooled.remove();
    if (options.isFatal(error)) throw error;
    return outcome({ bytes: 0, leftOut: leftOut + bytes, failure: describeError(error) });
  }
}

/** Reads a source to its end, its deadline or its limit. Returns why not all of it was read, if so. */
async function fill(
  spooled: Spooled,
  source: Source,
  { host, redactor, place, signal }: CollectOptions,
): Promise<unknown> {
  const ms = patient(host, source.deadlineMs);
  const over = new Error(`not complete after ${ms / 1000} s`);
  using limit = new Limit([signal], { ms, over });
  using grace = graceAfter(limit.signal, GRACE_MS);
  let unread: unknown;
  // Ends where the source fails or is stopped: the redaction holds back what it has not yet checked.
  async function* contents() {
    try {
      yield* untilAborted(source.open(host, limit.signal), limit.signal);
    } catch (error) {
      unread = error;
    }
  }
  const redacted = redactor.text(contents());
  await spooled.fill(untilAborted(redacted, grace.signal), source, place);
  const failure = spooled.failure ?? unread;
  if (failure === undefined) return undefined;
  if (signal.aborted) return new Error(`not complete: ${describeError(signal.reason)}`);
  return limit.signal.aborted ? limit.signal.reason : failure;
}
