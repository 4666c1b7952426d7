/** Something wrong in what the user gave, with the place where an editor finds it. */
export interface Fault {
  /** Absent for what does not come from install-config.yaml. */
  position?: { line: number; column: number };
  /** `path.to.field`, with list positions as `[0]`; or the name of an environment variable. */
  field: string;
  expected: string;
  found: string;
  /** One imperative sentence. */
  fix: string;
}

export const INSTALL_CONFIG = 'install-config.yaml';

/** `install-config.yaml:LINE:COL path.to.field: expected …, found …. <fix>` */
export function faultText({ position, field, expected, found, fix }: Fault): string {
  const place =
    position === undefined ? '' : `${INSTALL_CONFIG}:${position.line}:${position.column} `;
  return `${place}${field}: expected ${expected}, found ${found}. ${fix}`;
}

/** In the order of the file; what has no position comes last. */
export function inOrder(faults: readonly Fault[]): Fault[] {
  const end = { line: Number.MAX_SAFE_INTEGER, column: 0 };
  return faults.toSorted(({ position: a = end }, { position: b = end }) =>
    a.line === b.line ? a.column - b.column : a.line - b.line,
  );
}

/** The value in words; never that of a secret. */
export function foundText(value: unknown, secret = false): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value !== 'string') return String(value);
  if (secret) return `a text of ${value.length} characters`;
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
}
