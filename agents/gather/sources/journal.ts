import { isRecord, parseJson } from '../../../lib/json.ts';
import { wholeLines } from '../../../lib/secrets/redact/lines.ts';
import type { GatherHost } from '../gather-host.ts';
import type { Source } from '../source.ts';
import { type CommandSource, command, type Differences, output, stream } from './command.ts';

/**
 * Fields of an entry that tell who said what; the times and the boot come with them. An event of an
 * agent is written by a short process, whose own unit journald may not see any more.
 */
const FIELDS =
  'MESSAGE,_SYSTEMD_UNIT,OBJECT_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,PRIORITY,MESSAGE_ID,STEP,CODE';

const call = (host: GatherHost, args: readonly string[]) =>
  [
    'journalctl',
    '--no-pager',
    '--quiet',
    // Also what has colours in it, which it would leave out as "blob data".
    '--all',
    ...(host.sinceMs === undefined ? [] : [`--since=@${Math.floor(host.sinceMs / 1000)}`]),
    ...args,
  ] as const;

/** Entries of the journal as text, one a line with its time in UTC. */
export function journal(
  host: GatherHost,
  path: string,
  args: readonly string[],
  differences: Differences = {},
): CommandSource {
  const format = ['--no-hostname', '--output=short-iso-precise'];
  return command(path, call(host, [...format, ...args]), differences);
}

/** Entries as JSON, one a line, the oldest of them; every field is a text. */
export function journalRecords(host: GatherHost, path: string, args: readonly string[]): Source {
  const format = ['--output=json', `--output-fields=${FIELDS}`];
  const open: Source['open'] = (_, signal) =>
    records(output(call(host, [...format, ...args]), signal), RECORDS_BYTES);
  return stream(path, open, { format: 'json', keep: 'oldest' });
}

/** Below the limit of the source, so that what the redaction adds is not cut off again. */
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
 * An entry with texts alone: journalctl writes a message that has a control character in it,
 * such as a colour, as a list of its bytes, and a field that occurs twice as a list of texts. No
 * redaction would find a secret in bytes. '' for what is no entry.
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
