import type { GatherOutcome } from '../../../report/gather-record.ts';
import { LeftOut } from '../bundle/bundle-sink.ts';
import type { Packer } from '../bundle/packer.ts';
import type { Source } from '../source.ts';
import { type CollectOptions, collect } from './collect.ts';
import type { Spooled } from './spool.ts';

type BulkOptions = Pick<
  CollectOptions,
  'host' | 'redactor' | 'place' | 'concurrency' | 'signal' | 'ended'
>;

/**
 * Collects large sources: each file is added to the bundle as soon as it is complete. Only
 * sources that give way to others are collected concurrently and wait, compressed, until the
 * space left by the others is known.
 */
export async function collectBulk(
  sources: readonly Source[],
  packer: Packer,
  options: BulkOptions,
): Promise<void> {
  const rank = ({ givesWay = 0 }: Source) => givesWay;
  const giving = sources.filter((source) => rank(source) > 0);
  const others = sources.filter((source) => rank(source) <= 0);
  const waiting = new Waiting(options.ended);
  const isFatal = (error: unknown) => !(error instanceof LeftOut);
  await Promise.all([
    collect(others, {
      ...options,
      isFatal,
      concurrency: Math.max(1, options.concurrency - (giving.length > 0 ? 1 : 0)),
      place: { ...options.place, makeRoom: () => waiting.giveUp() },
      take: (source, spooled) => packer.add(source, spooled, waiting.wantedBytes),
    }),
    collect(
      giving.toSorted((a, b) => rank(a) - rank(b)),
      {
        ...options,
        isFatal,
        concurrency: 1,
        began: (source, spooled) => waiting.began(source, spooled),
        take: async () => undefined,
        ended: (outcome) => waiting.ended(outcome),
      },
    ),
  ]);
  await waiting.pack(packer);
}

interface Held {
  readonly source: Source;
  readonly spooled: Spooled;
  outcome?: GatherOutcome;
}

/** Files waiting to be added to the bundle, highest priority first. */
class Waiting {
  readonly #held: Held[] = [];
  readonly #ended: CollectOptions['ended'];

  constructor(ended: CollectOptions['ended']) {
    this.#ended = ended;
  }

  /** The size of the file with the highest priority. */
  get wantedBytes(): number {
    return this.#held[0]?.spooled.storedBytes ?? 0;
  }

  began(source: Source, spooled: Spooled): void {
    this.#held.push({ source, spooled });
  }

  ended(outcome: GatherOutcome): void {
    const held = this.#held.find(({ source }) => source.path === outcome.path);
    if (held === undefined) this.#ended(outcome);
    else held.outcome = outcome;
  }

  /** Drops the oldest part of the file with the lowest priority; false if nothing is left to drop. */
  async giveUp(): Promise<boolean> {
    for (const { spooled } of this.#held.toReversed()) {
      if (await spooled.dropOldest()) return true;
    }
    return false;
  }

  async pack(packer: Packer): Promise<void> {
    for (const { source, spooled, outcome } of this.#held) {
      if (outcome === undefined) continue;
      if (outcome.bytes === 0) {
        this.#ended(outcome);
        continue;
      }
      try {
        await packer.add(source, spooled);
        // What it lost after it was read, to fit; by now it is packed and removed.
        const { leftOut } = spooled;
        this.#ended({ ...outcome, bytes: outcome.bytes + outcome.leftOut - leftOut, leftOut });
      } catch (error) {
        await spooled.remove();
        if (!(error instanceof LeftOut)) throw error;
        this.#ended({ ...outcome, bytes: 0, failure: error.message });
      }
    }
  }
}
