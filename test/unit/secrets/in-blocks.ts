import type { Test } from 'tap';
import { Budget } from '../../../lib/secrets/bytes/budget.ts';
import { Effort } from '../../../lib/secrets/redact/effort.ts';
import { KnownSecrets } from '../../../lib/secrets/redact/known.ts';
import { marksWith } from '../../../lib/secrets/redact/marks.ts';
import { STREAM_LIMITS, TextRedactor } from '../../../lib/secrets/redact/text.ts';
import { TriggerSearch } from '../../../lib/secrets/redact/triggers.ts';

const marks = marksWith(Buffer.alloc(32, 1));
const means = { known: new KnownSecrets([], marks), triggers: new TriggerSearch(), marks };

/** The output for each block, with `#` for each mark, followed by that at the end of the stream. */
export function inBlocks(blocks: readonly string[]): string[] {
  const limits = { budget: new Budget(STREAM_LIMITS), effort: new Effort(() => 0) };
  const redactor = new TextRedactor(means, limits);
  const parts = blocks.map((block) => redactor.push(Buffer.from(block)));
  return [...parts, redactor.end()].map((part) =>
    part.toString().replace(/<redacted:[0-9a-f]{8}>/g, '#'),
  );
}

/**
 * Each text has its secrets in `«»`, and `¦` where the part begins that is held back until more is
 * known. Wherever the text is divided into two blocks of whole lines, the output is the same.
 */
export function expectHeld(t: Test, texts: readonly string[]) {
  for (const text of texts) {
    const title = JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}...` : text);
    const expected = text.replace(/«[^«»]*»/g, '#').split('¦');
    const input = text.replace(/[«»¦]/g, '');
    t.strictSame(inBlocks([input]), expected, title);
    for (let at = input.indexOf('\n'); at !== -1; at = input.indexOf('\n', at + 1)) {
      const output = inBlocks([input.slice(0, at + 1), input.slice(at + 1)]).join('');
      t.equal(output, expected.join(''), `${title}, divided at ${at + 1}`);
    }
  }
}
