import { output, outputText } from '../../../lib/host/program-output.ts';
import { scanForKeys } from '../../../lib/secrets/key-scan.ts';

const journalctl = ['journalctl', '--quiet'] as const;
const entries = [...journalctl, '--no-pager', '--all', '--output=cat'] as const;

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
  signal: AbortSignal,
): Promise<SearchedJournal> {
  const units = await outputText([...journalctl, '--field=_SYSTEMD_UNIT'], signal);
  const found: string[] = [];
  const incomplete: string[] = [];
  const search = async (name: string, matches: readonly string[]) => {
    const { keys, complete } = await scanForKeys(output([...entries, ...matches], signal), signal);
    if ([...keys].some((key) => wanted.has(key))) found.push(name);
    if (!complete) incomplete.push(name);
  };
  for (const unit of units.split('\n').filter(Boolean)) {
    await search(`the journal of ${unit}`, [`_SYSTEMD_UNIT=${unit}`]);
  }
  if (found.length === 0) await search('the journal', []);
  return { found, incomplete };
}
