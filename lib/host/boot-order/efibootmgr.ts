/** A boot entry of the firmware, if its device path names a file on a GPT partition. */
export interface BootEntry {
  /** Four hexadecimal digits, upper case. */
  readonly number: string;
  readonly active: boolean;
  readonly label: string;
  readonly target?: BootTarget | undefined;
}

export interface BootTarget {
  /** Unique GUID of the partition, lower case. */
  readonly partition: string;
  /** Its number in the partition table. */
  readonly partitionNumber: number;
  /** Path on the partition, with backslashes. */
  readonly loader: string;
}

export interface BootVariables {
  /** The entry of this boot; not set if the firmware booted in another way. */
  readonly current?: string | undefined;
  readonly next?: string | undefined;
  readonly order: readonly string[];
  readonly entries: readonly BootEntry[];
}

/**
 * Parses the output of `efibootmgr -v`. Version 17 wraps the loader in `File(...)`,
 * version 18 does not; both append an entry's optional data directly, as text or as
 * hexadecimal digits, so a loader ends with `.efi`. Version 18 adds lines with the
 * bytes of the path. Lines that are not entries are skipped.
 */
export function parseEfibootmgr(text: string): BootVariables {
  const value = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(text)?.[1];
  return {
    current: value('BootCurrent')?.toUpperCase(),
    next: value('BootNext')?.toUpperCase(),
    order: (value('BootOrder') ?? '')
      .split(',')
      .filter((number) => /^[0-9A-F]{4}$/i.test(number))
      .map((number) => number.toUpperCase()),
    entries: text.split('\n').flatMap(parseEntry),
  };
}

function parseEntry(line: string): BootEntry[] {
  const [, number, active, rest = ''] = /^Boot([0-9A-F]{4})([* ])\s?(.*)$/i.exec(line) ?? [];
  if (number === undefined) return [];
  const [label = '', path = ''] = rest.split('\t');
  const entry = { number: number.toUpperCase(), active: active === '*', label: label.trim() };
  return [{ ...entry, target: parseTarget(path) }];
}

function parseTarget(path: string): BootTarget | undefined {
  const disk = /HD\((\d+),GPT,([0-9a-f-]{36}),[^)]*\)\//i.exec(path);
  const loader = /(\\[^()]*?\.efi)/i.exec(path)?.[1];
  const [, number, partition] = disk ?? [];
  if (number === undefined || partition === undefined || loader === undefined) return undefined;
  return { partition: partition.toLowerCase(), partitionNumber: Number(number), loader };
}
