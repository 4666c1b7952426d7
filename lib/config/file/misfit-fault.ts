import type { Misfit } from '../site/nmstate/misfit.ts';
import type { ConfigDocument } from './document.ts';
import { type Fault, fieldName } from './fault.ts';
import { foundAt, IN_QUOTES } from './schema-faults.ts';

/** A misfit of a document as a fault of its file; `found` defaults to the value itself. */
export const misfitFault = (
  { path, ofKey = false, expected, found, fix }: Misfit,
  document: ConfigDocument,
): Fault => ({
  position: document.positionOf(path, ofKey ? 'key' : 'value'),
  field: fieldName(path),
  expected,
  found: found ?? foundAt(path, document, expected),
  fix: ofWord(document.writtenAt(path), expected) ?? fix,
});

/** One of the words that are expected, such as off, which YAML takes for something else. */
const ofWord = (written: string | undefined, expected: string): string | undefined =>
  written !== undefined &&
  expected
    .replace(/^one of /, '')
    .split(', ')
    .includes(written)
    ? `${IN_QUOTES}: ${JSON.stringify(written)}.`
    : undefined;
