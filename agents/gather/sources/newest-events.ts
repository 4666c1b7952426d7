import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { asItem, type Page } from './object-list.ts';

const time = z.string().nullish().catch(undefined);
const timesSchema = z.looseObject({
  lastTimestamp: time,
  eventTime: time,
  series: z.looseObject({ lastObservedTime: time }).nullish().catch(undefined),
  metadata: z.looseObject({ creationTimestamp: time }),
});

interface Dated {
  readonly atMs: number;
  readonly text: string;
}

/** The API lists events by name; here they are sorted by time, and the newest are kept. */
export async function* newestEvents(
  lists: AsyncIterable<Page>,
  limitBytes: number,
  sinceMs = 0,
): AsyncGenerator<Uint8Array> {
  let kept: Dated[] = [];
  let bytes = 0;
  let left = 0;
  let failure: unknown;
  const trim = () => {
    kept.sort((a, b) => b.atMs - a.atMs);
    const all = kept.length;
    while (bytes > limitBytes) bytes -= kept.pop()?.text.length ?? bytes;
    left += all - kept.length;
  };
  try {
    for await (const { items } of lists) {
      const dated = (items ?? []).map(withTime).filter(({ atMs }) => atMs >= sinceMs);
      kept = kept.concat(dated);
      bytes += dated.reduce((sum, { text }) => sum + text.length, 0);
      // Not on each page: sorting is expensive.
      if (bytes > 2 * limitBytes) trim();
    }
  } catch (error) {
    if (kept.length === 0) throw error;
    failure = error;
  }
  trim();
  yield Buffer.from('{\n "kind": "EventList",\n "apiVersion": "v1",\n "items": [');
  for (const [index, { text }] of kept.toReversed().entries()) {
    yield Buffer.from(`${index === 0 ? '\n' : ',\n'}${text}`);
  }
  yield Buffer.from('\n]}\n');
  if (failure !== undefined) throw failure;
  if (left > 0) throw new Failure('retry', `the oldest ${left} events are left out`);
}

function withTime(item: unknown): Dated {
  const { series, lastTimestamp, eventTime, metadata } = timesSchema.safeParse(item).data ?? {};
  const newest =
    series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata?.creationTimestamp;
  const atMs = Date.parse(newest ?? '');
  // An event without a time is never the one to drop.
  return { atMs: Number.isNaN(atMs) ? Number.POSITIVE_INFINITY : atMs, text: asItem(item) };
}
