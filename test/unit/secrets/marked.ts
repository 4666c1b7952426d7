import type { Test } from 'tap';
import { createRedactor, type Redactor } from '../../../lib/secrets/redact/redactor.ts';
import { redacted } from './streams.ts';

export interface Way {
  readonly format?: keyof Redactor;
  readonly known?: readonly string[];
  /** Bytes in each piece of the stream. */
  readonly size?: number;
  /** Whether the marks come as they are. */
  readonly marks?: boolean;
}

/** What comes out of redaction, with `#` for each mark unless they are asked for. */
export async function safe(input: string, way: Way = {}): Promise<string> {
  const { format = 'text', known = [], size = 65_536, marks = false } = way;
  const redactor = createRedactor(Buffer.alloc(32, 1), known);
  const output = await redacted(redactor[format], Buffer.from(input), () => size);
  const text = output.toString();
  return marks ? text : text.replace(/<redacted:[0-9a-f]{8}>/g, '#');
}

/**
 * Each text with its secrets in `«»`: exactly those go, and everything else comes through. A text
 * without `«»` is ordinary.
 */
export async function expectMarked(t: Test, texts: readonly string[], way: Way = {}) {
  for (const text of texts) {
    const expected = text.replace(/«[^«»]*»/g, '#');
    const title = text.length > 200 ? `${text.slice(0, 200)}...` : text;
    t.equal(await safe(text.replace(/[«»]/g, ''), way), expected, JSON.stringify(title));
  }
}
