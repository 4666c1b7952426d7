import { Budget } from '../bytes/budget.ts';
import { Effort } from './effort.ts';
import { KnownSecrets } from './known.ts';
import { LineSplitter } from './lines.ts';
import { type Marks, marksWith } from './marks.ts';
import { STREAM_LIMITS, TextRedactor } from './text.ts';
import { TriggerSearch } from './triggers.ts';

/** Bytes in, bytes out, in order; memory does not grow with their number. */
export type Redaction = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** Takes the secrets out of the files of one bundle. Equal secrets get equal marks, `<redacted:1a2b3c4d>`. */
export interface Redactor {
  /** Logs, documents and configuration of any kind: what has no secret in it comes through byte for byte. */
  readonly text: Redaction;
}

/** A stream that is given piece by piece: what can be told after each of them, and the rest. */
export interface RedactedStream {
  push(chunk: Uint8Array): Iterable<Uint8Array>;
  end(): Iterable<Uint8Array>;
}

/**
 * `key`: random bytes, made for one bundle. `known`: the secrets that this very host holds,
 * found wherever they turn up, also in base64.
 */
export function createRedactor(key: Uint8Array, known: Iterable<string>): Redactor {
  return redactorWith(marksWith(key), known);
}

export function redactorWith(...means: Parameters<typeof redactedStreams>): Redactor {
  const begun = redactedStreams(...means);
  return {
    text: async function* (chunks) {
      const stream = begun();
      for await (const chunk of chunks) yield* stream.push(chunk);
      yield* stream.end();
    },
  };
}

const allTriggers = new TriggerSearch();

/** Begins a stream at each call. */
export function redactedStreams(
  marks: Marks,
  known: Iterable<string>,
  triggers = allTriggers,
): () => RedactedStream {
  const means = { known: new KnownSecrets(known, marks), triggers, marks };
  return () => {
    const budget = new Budget(STREAM_LIMITS);
    const redactor = new TextRedactor(means, {
      budget,
      effort: new Effort(),
      search: new Effort(),
    });
    const lines = new LineSplitter();
    function* redacted(blocks: Iterable<Buffer>) {
      for (const block of blocks) {
        budget.read(block.length);
        const safe = redactor.push(block);
        if (safe.length > 0) yield safe;
      }
    }
    return {
      push: (chunk) => redacted(lines.push(chunk)),
      end: function* () {
        yield* redacted(lines.end());
        const last = redactor.end();
        if (last.length > 0) yield last;
      },
    };
  };
}
