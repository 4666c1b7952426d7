import { logLines } from '../../bench/gather/lines.ts';

const LENGTH = 200_000;

/** What a bundle is made of, as a measure for everything else. */
export function ordinaryText(): Buffer {
  let text = '';
  for (const { unit, text: line } of logLines(1)) {
    text += `2026-03-12T10:00:00 sno-0 ${unit}: ${line}\n`;
    if (text.length > LENGTH) break;
  }
  return Buffer.from(text);
}
