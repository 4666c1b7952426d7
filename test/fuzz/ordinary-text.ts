import { stringify } from 'yaml';
import { logLines } from '../../bench/gather/lines.ts';
import type { Redactor } from '../../lib/secrets/redact/redactor.ts';

const LENGTH = 200_000;

/** What a bundle is made of, as a measure for everything else. */
export function ordinaryText(format: keyof Redactor): Buffer {
  if (format === 'text') return lines((line) => line);
  if (format === 'json') return lines((line) => JSON.stringify({ level: 'info', msg: line }));
  const items = Array.from({ length: 400 }, (_, at) => ({
    metadata: { name: `pod-${at}`, namespace: 'default', labels: { app: 'web', tier: 'front' } },
    spec: { nodeName: 'sno-0', containers: [{ name: 'web', image: 'quay.io/web:1' }] },
  }));
  return Buffer.from(stringify({ kind: 'List', items }));
}

function lines(write: (line: string) => string): Buffer {
  let text = '';
  for (const { unit, text: line } of logLines(1)) {
    text += `${write(`2026-03-12T10:00:00 sno-0 ${unit}: ${line}`)}\n`;
    if (text.length > LENGTH) break;
  }
  return Buffer.from(text);
}
