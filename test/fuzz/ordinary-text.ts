import { logLines } from '../../bench/gather/lines.ts';
import type { Redactor } from '../../lib/secrets/redact/redactor.ts';

const LENGTH = 200_000;

/** What a bundle is made of, as a measure for everything else. */
export function ordinaryText(format: keyof Redactor): Buffer {
  if (format === 'text') return lines((line) => line);
  return lines((line) => JSON.stringify({ level: 'info', msg: line }));
}

function lines(write: (line: string) => string): Buffer {
  let text = '';
  for (const { unit, text: line } of logLines(1)) {
    text += `${write(`2026-03-12T10:00:00 sno-0 ${unit}: ${line}`)}\n`;
    if (text.length > LENGTH) break;
  }
  return Buffer.from(text);
}
