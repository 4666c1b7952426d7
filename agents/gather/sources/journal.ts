import { isRecord, parseJson } from '../../../lib/base/json.ts';
import { output } from '../../../lib/host/program-output.ts';
import { wholeLines } from '../../../lib/secrets/redact/lines.ts';
import type { GatherHost } from '../gather-host.ts';
import type { Source } from '../source.ts';
import { type CommandSource, command, type Differences, stream } from './command.ts';

/**
 * Fields that identify the sender of an entry; times and boot are always included. Events of an
 * agent are written by a short-lived process, whose unit journald may no longer be able to look up.
 */
const FIELDS =
  'MESSAGE,_SYSTEMD_UNIT,OBJECT_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,PRIORITY,MESSAGE_ID,STEP,CODE';

const call = (host: GatherHost, args: readonly string[]) =>
  [
    'journalctl',
    '--no-pager',
    '--quiet',
    // Includes entries with colour codes, which would be omitted as "blob data".
    '--all',
    ...(host.sinceMs === undefined ? [] : [`--since=@${Math.floor(host.sinceMs / 1000)}`]),
    ...args,
  ] as const;

/** Journal entries as text, one per line with its time in UTC. */
export function journal(
  host: GatherHost,
  path: string,
  args: readonly string[],
  differences: Differences = {},
): CommandSource {
  const format = ['--no-hostname', '--output=short-iso-precise'];
  return command(path, call(host, [...format, ...args]), differences);
}

/** The oldest journal entries as JSON, one per line; every field is a string. */
export function journalRecords(host: GatherHost, path: string, args: readonly string[]): Source {
  const format = ['--output=json', `--output-fields=${FIELDS}`];
  const open: Source['open'] = (_, signal) =>
    records(output(call(host, [...format, ...args]), signal), RECORDS_BYTES);
  return stream(path, open, { format: 'json', keep: 'oldest' });
}

/** Below the limit of the source, so that what the redaction adds is not cut off. */
const RECORDS_BYTES = 2 << 20;

async function* records(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const block of wholeLines(chunks)) {
    const lines = block.toString('utf8').split('\n');
    const readable = Buffer.from(lines.map(readableRecord).join(''), 'utf8');
    bytes += readable.length;
    yield readable;
    if (bytes >= limitBytes) return;
  }
}

/**
 * An entry with string fields only: journalctl writes a message that contains a control
 * character, such as a colour code, as an array of bytes, and a repeated field as an array of
 * strings. The redaction cannot find a secret in byte arrays. '' if the line is not an entry.
 */
export function readableRecord(line: string): string {
  const entry = parseJson(line);
  if (!isRecord(entry)) return '';
  const fields = Object.entries(entry).flatMap(([name, value]): [string, string][] => {
    const text = textOf(value);
    return name === '__CURSOR' || text === undefined ? [] : [[name, text]];
  });
  return `${JSON.stringify(Object.fromEntries(fields))}\n`;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  const items: unknown[] = value;
  const bytes = items.filter((item) => typeof item === 'number');
  if (bytes.length === items.length) return Buffer.from(bytes).toString('utf8');
  return items.map(textOf).findLast((text) => text !== undefined);
}
