import { z } from 'zod';
import { parseJson } from '../json.ts';
import { redact } from './redact.ts';

/** An error by the form of its line: klog, logfmt, JSON (zap), a panic of Go, or plain. */
const ERROR =
  /^(?:[EF]\d{4} |panic: |(?:fatal )?error: |flag provided but not defined)|\blevel="?(?:error|fatal|panic)|"level":"(?:error|fatal|panic|dpanic)"/i;
/** Date, process and place in the source: of no interest to a reader, and different each time. */
const KLOG_HEADER = /^[IWEF]\d{4} [\d:.]+ +\d+ [^\]\s]+\] /;
const MESSAGE = /\bmsg=("(?:[^"\\]|\\.)*"|\S+)/;

const zapSchema = z.object({ msg: z.string(), error: z.string().optional() });

const MOST_CHARACTERS = 400;

/**
 * Why a program ended, from the end of what it printed: its last error, or its last line if none has the form of one. One
 * line without secrets; empty if it printed nothing.
 */
export function lastError(text: string): string {
  // All of it: a key without its beginning cannot be recognized.
  const lines = redact(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = lines.findLast((each) => ERROR.test(each)) ?? lines.at(-1) ?? '';
  return messageIn(line).slice(0, MOST_CHARACTERS);
}

function messageIn(line: string): string {
  const zap = zapSchema.safeParse(line.startsWith('{') ? parseJson(line) : undefined).data;
  if (zap !== undefined) return zap.error === undefined ? zap.msg : `${zap.msg}: ${zap.error}`;
  const quoted = MESSAGE.exec(line)?.[1];
  const message = z.string().safeParse(quoted?.startsWith('"') ? parseJson(quoted) : quoted).data;
  return message ?? line.replace(KLOG_HEADER, '');
}
