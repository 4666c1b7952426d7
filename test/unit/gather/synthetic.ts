import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Source, SourceGroup } from '../../../agents/gather/source.ts';

/** A source defined by its behaviour; everything else has a default. */
export interface Synthetic extends Partial<Omit<Source, 'open'>> {
  readonly path: string;
  readonly group?: string;
  /**
   * `text`: outputs it. `lines`: `bytes` of numbered lines. `fails`: outputs the text, then fails.
   * `throws`: fails before any output. `hangs`: outputs the text, then waits for its signal.
   * `deaf`: the same, but ignores the signal. `drips`: endlessly a line every few milliseconds.
   * `document`: a JSON list of objects, of about `bytes`. `repeats`: the text, up to `bytes`, in one line.
   */
  readonly does:
    | 'text'
    | 'lines'
    | 'repeats'
    | 'document'
    | 'fails'
    | 'throws'
    | 'hangs'
    | 'deaf'
    | 'drips';
  readonly text?: string;
  readonly bytes?: number;
}

const LINE_BYTES = 100;
const CHUNK_LINES = 640;
const DRIP_MS = 5;

const numberOf = (at: number) => String(at).padStart(12, '0');

const noises = Array.from({ length: CHUNK_LINES }, (_, at) =>
  createHash('sha256').update(String(at)).digest('base64').slice(0, 30),
);

/** A line of 100 bytes, numbered from 0, a third of it noise. */
export function line(at: number): string {
  return `${numberOf(at)} ${noises[at % CHUNK_LINES]} ${'all is well '.repeat(5).slice(0, 55)}\n`;
}

/** Repeats the same chunk of lines with new numbers: generating text must not take longer than collecting it. */
async function* lines(bytes: number): AsyncGenerator<Uint8Array> {
  const count = Math.ceil(bytes / LINE_BYTES);
  const chunk = Array.from({ length: CHUNK_LINES }, (_, at) => line(at)).join('');
  for (let at = 0; at < count; at += CHUNK_LINES) {
    const length = Math.min(CHUNK_LINES, count - at);
    const numbered = Buffer.from(chunk.slice(0, length * LINE_BYTES), 'latin1');
    for (let index = 0; index < length; index++) {
      numbered.write(numberOf(at + index), index * LINE_BYTES, 'latin1');
    }
    yield numbered;
  }
}

/** Cached: generating one takes more memory than its redaction. */
const documents = new Map<number, Buffer>();

/** In the format of an API list. */
function document(bytes: number): Buffer {
  const known = documents.get(bytes);
  if (known !== undefined) return known;
  const items: object[] = [];
  for (let length = 0; length < bytes; length += 250) {
    const at = items.length;
    items.push({
      metadata: { name: `pod-${at}`, namespace: 'default', labels: { app: `app-${at % 7}` } },
      spec: { containers: [{ name: 'a', image: `registry.example.com/a@sha256:${at}` }] },
      status: { phase: 'Running', podIP: `192.0.2.${at % 250}`, startTime: '2026-01-01T00:00:00Z' },
    });
  }
  const made = Buffer.from(JSON.stringify({ kind: 'PodList', items }));
  documents.set(bytes, made);
  return made;
}

async function* contents(
  { does, text = '', bytes = 0 }: Synthetic,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (does === 'repeats') yield Buffer.from(`${text.repeat(Math.ceil(bytes / text.length))}\n`);
  else if (text !== '') yield Buffer.from(text);
  if (does === 'lines') yield* lines(bytes);
  if (does === 'document') yield document(bytes);
  if (does === 'fails') throw new Error('the disk is on fire');
  if (does === 'hangs') await sleep(2 ** 30, undefined, { signal });
  if (does === 'deaf') await new Promise(() => undefined);
  for (let at = 0; does === 'drips'; at++) {
    yield Buffer.from(line(at));
    await sleep(DRIP_MS, undefined, { signal });
  }
}

export function sourceOf(synthetic: Synthetic): Source {
  const { group: _group, does, text: _text, bytes: _bytes, ...rest } = synthetic;
  return {
    format: 'text',
    phase: 'diagnosis',
    deadlineMs: 20_000,
    limitBytes: 1 << 30,
    keep: 'newest',
    ...rest,
    open: (_, signal) => {
      if (does === 'throws') throw new Error('it does not even begin');
      return contents(synthetic, signal);
    },
  };
}

/** Groups in the order of their first sources; `other` for sources without a group. */
export function groupsOf(synthetics: readonly Synthetic[]): SourceGroup[] {
  const groups = Map.groupBy(synthetics, ({ group = 'other' }) => group);
  return [...groups].map(([name, members]) => ({
    name,
    deadlineMs: 5000,
    list: async () => members.map(sourceOf),
  }));
}
