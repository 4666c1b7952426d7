import t from 'tap';
import { settledBytes } from '../../../lib/secrets/redact/line-part.ts';

const KIB = 1024;
const LENGTH = 100 * KIB;
/** A byte is a gap only where it is given as one. */
const partOf = (...gaps: number[]) => {
  const bytes = Buffer.alloc(LENGTH, 'x');
  for (const at of gaps) bytes[at] = 0x20;
  return bytes;
};
const found = (start: number, end: number) => ({ start, end, by: '<redacted>' });
/** Everything before can be written if nothing is found: 16 KiB are held back. */
const CUT = LENGTH - 16 * KIB;

t.test('a part of a line without secrets is cut after a gap', (t) => {
  for (const { what, part, settled } of [
    { what: 'gaps everywhere', part: Buffer.alloc(LENGTH, ' '), settled: CUT },
    { what: 'a gap just before the cut', part: partOf(CUT - 1), settled: CUT },
    { what: 'a gap just after the cut', part: partOf(10, CUT), settled: 11 },
    { what: 'the last of two gaps', part: partOf(10, 20), settled: 21 },
    { what: 'no gap', part: partOf(), settled: 0 },
    { what: 'a gap at the start', part: partOf(0), settled: 1 },
    { what: 'a short part', part: Buffer.alloc(16 * KIB - 1, ' '), settled: 0 },
  ]) {
    t.equal(settledBytes(part, []), settled, what);
  }
  t.end();
});

t.test('a secret near the cut is not divided, nor separated from its name', (t) => {
  const near = CUT + 599;
  for (const { what, findings, settled } of [
    { what: 'across the cut', findings: [found(CUT - 5, CUT + 5)], settled: CUT + 5 },
    { what: 'before the cut', findings: [found(10, 20)], settled: CUT },
    { what: 'up to the cut', findings: [found(CUT - 5, CUT)], settled: CUT },
    { what: 'right after the cut', findings: [found(CUT, CUT + 9)], settled: CUT + 9 },
    { what: 'shortly after the cut', findings: [found(near, near + 9)], settled: near + 9 },
    { what: 'far after the cut', findings: [found(near + 1, near + 9)], settled: CUT },
    {
      what: 'one after another',
      findings: [found(near + 608, near + 650), found(near, near + 9)],
      settled: near + 650,
    },
    {
      what: 'one in another',
      findings: [found(CUT - 9, CUT + 90), found(CUT - 1, CUT + 9)],
      settled: CUT + 90,
    },
  ]) {
    t.equal(settledBytes(Buffer.alloc(LENGTH, ' '), findings), settled, what);
  }
  t.end();
});

t.test('a secret that may continue is held back with 16 KiB before it', (t) => {
  for (const { what, findings, settled } of [
    { what: 'at the end', findings: [found(90_000, LENGTH)], settled: 90_000 - 16 * KIB },
    { what: 'near the end', findings: [found(90_000, LENGTH - 255)], settled: 90_000 - 16 * KIB },
    { what: 'not near the end', findings: [found(90_000, LENGTH - 256)], settled: CUT },
    {
      what: 'the first of two',
      findings: [found(95_000, LENGTH), found(90_000, LENGTH)],
      settled: 90_000 - 16 * KIB,
    },
    {
      what: 'within reach of the cut',
      findings: [found(LENGTH - 40 * KIB, LENGTH), found(LENGTH - 56 * KIB, LENGTH - 45 * KIB)],
      settled: LENGTH - 45 * KIB,
    },
    {
      what: 'overlaps a secret near the cut',
      findings: [found(LENGTH - 56 * KIB, LENGTH - 30 * KIB), found(LENGTH - 40 * KIB, LENGTH)],
      settled: LENGTH - 40 * KIB,
    },
    {
      what: 'of 48 KiB',
      findings: [found(LENGTH - 48 * KIB, LENGTH)],
      settled: LENGTH - 64 * KIB,
    },
    {
      what: 'of more than 48 KiB',
      findings: [found(LENGTH - 48 * KIB - 1, LENGTH)],
      settled: LENGTH,
    },
  ]) {
    t.equal(settledBytes(Buffer.alloc(LENGTH, ' '), findings), settled, what);
  }
  t.end();
});

t.test('a secret that begins near the end of a short part', (t) => {
  const part = Buffer.alloc(1000, ' ');
  t.equal(settledBytes(part, [found(100, 1000)]), 0);
  t.equal(settledBytes(part, [found(100, 500)]), 500);
  t.end();
});
