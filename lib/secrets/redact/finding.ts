/** Bytes to remove, and what replaces them. */
export interface SecretFinding {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

/** Stands for the rest of a block that takes too long. */
export const LEFT_OUT = '<redacted>\n';

/** The bytes with the findings replaced; the same bytes if there are none. Overlapping findings are replaced as one. */
export function replaced(bytes: Buffer, findings: readonly SecretFinding[]): Buffer {
  if (findings.length === 0) return bytes;
  const all = merged(findings);
  const removed = all.reduce((sum, { start, end }) => sum + end - start, 0);
  const added = all.reduce((sum, { by }) => sum + by.length, 0);
  const result = Buffer.allocUnsafe(bytes.length - removed + added);
  let kept = 0;
  let at = 0;
  for (const { start, end, by } of all) {
    at += bytes.copy(result, at, kept, start);
    at += result.write(by, at, 'latin1');
    kept = end;
  }
  bytes.copy(result, at, kept);
  return result;
}

/** In order, none overlapping: a larger finding stands for those in it, of equal ones the first. */
export function merged(findings: readonly SecretFinding[]): SecretFinding[] {
  const result: SecretFinding[] = [];
  for (const finding of findings.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1);
    if (last === undefined || finding.start >= last.end) result.push(finding);
    else result[result.length - 1] = { ...last, end: Math.max(last.end, finding.end) };
  }
  return result;
}
