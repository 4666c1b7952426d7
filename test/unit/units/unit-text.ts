/** What a unit says: the values of each directive, in order. Comments are left out. */
export type Directives = ReadonlyMap<string, readonly string[]>;

/** Directives whose values are lists of words, over all lines with that name (`man 5 systemd.unit`). */
const WORD_LISTS: ReadonlySet<string> = new Set([
  ...['After', 'Before', 'Requires', 'Wants', 'OnFailure', 'OnSuccess', 'RequiredBy', 'WantedBy'],
  ...['CapabilityBoundingSet', 'ReadWritePaths', 'RestrictAddressFamilies', 'SystemCallFilter'],
  ...['RestartPreventExitStatus', 'IPAddressAllow', 'IPAddressDeny'],
]);

export const isWordList = (directive: string): boolean => WORD_LISTS.has(directive);

/** Where systemd reads it; elsewhere it warns and goes on without it. */
function sectionOf(directive: string): string {
  if (/^(WantedBy|RequiredBy)$/.test(directive)) return 'Install';
  const ofTimer =
    /^(OnCalendar|OnClockChange|OnActiveSec|OnBootSec|OnUnitInactiveSec|AccuracySec|Persistent|RandomizedDelaySec)$/;
  if (ofTimer.test(directive)) return 'Timer';
  if (/^(PathChanged|PathExists|MakeDirectory|DirectoryMode)$/.test(directive)) return 'Path';
  if (/^(Listen|FlushPending)/.test(directive)) return 'Socket';
  const ofUnit =
    /^(Description|Documentation|After|Before|Requires|Wants|OnFailure|OnSuccess|RequiresMountsFor)$|^Condition|^Assert|^StartLimit/;
  return ofUnit.test(directive) ? 'Unit' : 'Service';
}

/**
 * @throws Error for a line that is no section, comment or directive, and for an empty list beside
 * others: systemd forgets with it what the lines before say.
 */
export function parseUnit(text: string): Directives {
  const found = new Map<string, string[]>();
  let section = '';
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, begun] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (begun !== undefined) {
      section = begun;
      continue;
    }
    const [, name = '', value = ''] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`not a line of a unit: ${line}`);
    if (section !== sectionOf(name)) throw new Error(`${name} is in [${section}]`);
    const values = isWordList(name) ? value.split(/\s+/).filter((word) => word !== '') : [value];
    if (found.has(name) && (value === '' || found.get(name)?.length === 0)) {
      throw new Error(`an empty ${name} beside others`);
    }
    found.set(name, [...(found.get(name) ?? []), ...values]);
  }
  return found;
}
