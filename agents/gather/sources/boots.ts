import { z } from 'zod';
import { parseJson } from '../../../lib/base/json.ts';
import { outputText } from '../../../lib/host/program-output.ts';

/** A boot listed by `journalctl --list-boots --output=json`. */
export interface Boot {
  /** 0 is the current boot, -1 the previous one. */
  readonly index: number;
  readonly boot_id: string;
  /** Microseconds since 1970. */
  readonly first_entry?: number;
  readonly last_entry?: number;
}

const bootSchema = z.object({
  index: z.number().int(),
  boot_id: z.string(),
  first_entry: z.number().optional(),
  last_entry: z.number().optional(),
});

/** The boots in the journal, newest first. */
export async function listBoots(signal: AbortSignal): Promise<Boot[]> {
  const options = ['--list-boots', '--output=json', '--no-pager', '--quiet'];
  return parseBoots(await outputText(['journalctl', ...options], signal));
}

/**
 * JSON, or the UTC table of a systemd without JSON output here (before 253). Anything else
 * has no boots.
 */
export function parseBoots(text: string): Boot[] {
  const boots = parsedJson(text) ?? text.split('\n').flatMap(parseLine);
  return boots.toSorted((a, b) => b.index - a.index);
}

function parsedJson(text: string): Boot[] | undefined {
  if (!text.trimStart().startsWith('[')) return undefined;
  const parsed = z.array(bootSchema).safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  return parsed.data.map(({ index, boot_id, first_entry, last_entry }) =>
    boot(index, boot_id, first_entry, last_entry),
  );
}

function parseLine(line: string): Boot[] {
  const [, index, id = '', times = ''] = /^\s*(-?\d+)\s+([0-9a-f]{32})\s+(.*)$/.exec(line) ?? [];
  if (index === undefined) return [];
  const [first, last] = [...times.matchAll(/(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/g)].map(
    ([, day, time]) => Date.parse(`${day}T${time}Z`) * 1000,
  );
  return [boot(Number(index), id, first, last)];
}

function boot(index: number, boot_id: string, first?: number, last?: number): Boot {
  return {
    index,
    boot_id,
    ...(first === undefined ? {} : { first_entry: first }),
    ...(last === undefined ? {} : { last_entry: last }),
  };
}
