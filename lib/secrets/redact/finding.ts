/** Bytes that have to go, and what stands in their place. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

/** The bytes with the findings replaced; the same bytes when there are none. What overlaps goes as one. */
export function replaced(bytes: Buffer, findings: readonly Finding[]): Buffer {
  if (findings.length === 0) return bytes;
  const parts: Buffer[] = [];
  let kept = 0;
  for (const { start, end, by } of merged(findings)) {
    parts.push(bytes.subarray(kept, start), Buffer.from(by, 'latin1'));
    kept = end;
  }
  parts.push(bytes.subarray(kept));
  return Buffer.concat(parts);
}

/** In order, none overlapping: a larger finding stands for those in it, of equal ones the first. */
function merged(findings: readonly Finding[]): Finding[] {
  const result: Finding[] = [];
  for (const finding of findings.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1);
    if (last === undefined || finding.start >= last.end) {
      result.push(finding);
    } else if (finding.end > last.end) {
      result[result.length - 1] = { ...last, end: finding.end };
    }
  }
  return result;
}
