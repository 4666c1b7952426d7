import type { Test } from 'tap';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { redacted } from './streams.ts';

export interface Way {
  readonly known?: readonly string[];
  /** Bytes in each piece of the stream. */
  readonly size?: number;
  /** Whether marks are returned as they are. */
  readonly marks?: boolean;
}

/** The redacted output, with `#` for each mark unless `marks` is set. */
export async function safe(input: string, way: Way = {}): Promise<string> {
  const { known = [], size = 65_536, marks = false } = way;
  const redactor = createRedactor(Buffer.alloc(32, 1), known);
  const output = await redacted(redactor.text, Buffer.from(input), () => size);
  const text = output.toString();
  return marks ? text : text.replace(/<redacted:[0-9a-f]{8}>/g, '#');
}

/**
 * Each text has its secrets in `«»`: exactly those must be removed. A text without `«»` must remain
 * unchanged.
 */
export async function expectMarked(t: Test, texts: readonly string[], way: Way = {}) {
  for (const text of texts) {
    const expected = text.replace(/«[^«»]*»/g, '#');
    const title = text.length > 200 ? `${text.slice(0, 200)}...` : text;
    t.equal(await safe(text.replace(/[«»]/g, ''), way), expected, JSON.stringify(title));
  }
}
