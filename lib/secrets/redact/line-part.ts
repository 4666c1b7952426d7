import type { SecretFinding } from './finding.ts';
import { gapBefore } from './lines.ts';

/** Held back for the next part: a name whose value may follow. */
const CONTEXT = 1 << 14;
/** A longer value is cut: memory has to have a bound. */
const MAX_HELD = 1 << 16;
/** The most that is expected between a name and its value. */
const NEAR = 600;
/** A value that ends this close to the cut may continue after it. */
const MAX_OPEN = 256;

/**
 * The bytes of a part of a line that can be written before the next part is known. The rest begins
 * between two words; no value in it has lost its name, and no value is divided unless it is longer
 * than 48 KiB.
 */
export function settledBytes(part: Buffer, findings: readonly SecretFinding[]): number {
  const sorted = findings.toSorted((a, b) => a.start - b.start);
  const isOpen = ({ end }: SecretFinding) => end > part.length - MAX_OPEN;
  const open = sorted.find(isOpen);
  const last = open?.start ?? part.length;
  if (part.length - last > MAX_HELD - CONTEXT) return part.length;
  let settled = gapBefore(part, last - CONTEXT);
  for (const finding of sorted) {
    const isNear = finding.start < settled + NEAR && !isOpen(finding);
    if (isNear) settled = Math.max(settled, Math.min(finding.end, last));
  }
  return settled;
}
