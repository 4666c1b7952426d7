import { execa } from 'execa';
import { run } from '../../../lib/host/command.ts';
import { scanForKeys } from '../../../lib/secrets/key-scan.ts';
import type { Limits } from '../../../lib/wait/limits.ts';

export interface SearchedJournal {
  /** Units, or `the journal`, whose entries have a wanted key. */
  readonly found: readonly string[];
  /** Those of which a limit kept a part from being searched. */
  readonly incomplete: readonly string[];
}

/**
 * Searches the entries of the journal, which compresses its files by entry: a key that was printed is one
 * entry for each of its lines. Each unit is read on its own, so that no entries of others are between these
 * lines, and then all entries, for those without a unit.
 */
export async function searchJournal(
  wanted: ReadonlySet<string>,
  { signal, deadlineMs }: Limits,
): Promise<SearchedJournal> {
  const endsAt = performance.now() + deadlineMs;
  const limits = () => ({ signal, deadlineMs: Math.max(1, endsAt - performance.now()) });
  const units = await run('journalctl', ['--quiet', '--field=_SYSTEMD_UNIT'], limits());
  const found: string[] = [];
  const incomplete: string[] = [];
  const search = async (name: string, matches: readonly string[]) => {
    const { keys, complete } = await scanForKeys(entries(matches, limits()), signal);
    if ([...keys].some((key) => wanted.has(key))) found.push(name);
    if (!complete) incomplete.push(name);
  };
  for (const unit of units.split('\n').filter(Boolean)) {
    await search(`the journal of ${unit}`, [`_SYSTEMD_UNIT=${unit}`]);
  }
  if (found.length === 0) await search('the journal', []);
  return { found, incomplete };
}

async function* entries(
  matches: readonly string[],
  { signal, deadlineMs }: Limits,
): AsyncGenerator<Buffer> {
  const args = ['--quiet', '--no-pager', '--all', '--output=cat', ...matches];
  const journalctl = execa('journalctl', args, {
    stdin: 'ignore',
    buffer: false,
    cancelSignal: signal,
    timeout: Math.max(1, Math.ceil(deadlineMs)),
  });
  for await (const piece of journalctl.stdout) yield Buffer.from(piece);
  await journalctl;
}
