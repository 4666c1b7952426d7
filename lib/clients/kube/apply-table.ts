import { tableLines } from '../../base/table.ts';
import type { Manifest } from './manifest-decoding.ts';
import type { ManifestFault } from './manifests.ts';
import { shown } from './warnings.ts';

type ManifestOutcome =
  | 'created'
  | 'existing'
  /** The API refuses it, and would refuse it again. */
  | 'rejected'
  /** It is not a manifest. */
  | 'undecodable'
  /** An earlier manifest describes the same object; this one was not applied. */
  | 'duplicate'
  /** Its kind was not served before the deadline. */
  | 'unserved'
  /** It was still waiting for something else at the deadline. */
  | 'timed out';

/** The outcome of one manifest. */
export interface ManifestRow {
  readonly file: string;
  readonly document: number;
  readonly line: number;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly outcome: ManifestOutcome;
  /** Empty for `created` and `existing`. */
  readonly reason: string;
  readonly attempts: number;
  /** What the API warned of while it stored the object. */
  readonly warnings: readonly string[];
}

export function manifestRow(
  manifest: Manifest,
  outcome: ManifestOutcome,
  reason: string,
  attempts: number,
  warnings: readonly string[] = [],
): ManifestRow {
  const { file, document, line, kind, namespace = '', name } = manifest;
  return { file, document, line, kind, namespace, name, outcome, reason, attempts, warnings };
}

/** The row of a fault found while loading. */
export function faultRow(fault: ManifestFault): ManifestRow {
  if (fault.kind === 'duplicate') {
    const { manifest, first } = fault;
    const reason = `the same object as in ${first.file}:${first.line}`;
    return manifestRow(manifest, 'duplicate', reason, 0);
  }
  const { file, document, line, reason } = fault;
  const nameless = { kind: '', namespace: '', name: '' };
  return {
    file,
    document,
    line,
    ...nameless,
    outcome: 'undecodable',
    reason,
    attempts: 0,
    warnings: [],
  };
}

/** The rows of manifests that were not applied. */
export function failedRows(rows: readonly ManifestRow[]): ManifestRow[] {
  return rows.filter(({ outcome }) => outcome !== 'created' && outcome !== 'existing');
}

/** A header and one line for each manifest that was not applied; empty if all were. */
export function failureTable(rows: readonly ManifestRow[]): string[] {
  return tableOf(failedRows(rows));
}

/** The table of those that were not applied, and of those of which the API warned. */
export function outcomeTable(rows: readonly ManifestRow[]): string[] {
  const failed = new Set(failedRows(rows));
  return tableOf(rows.filter((row) => failed.has(row) || row.warnings.length > 0));
}

/** Longer explanations are cut. */
const LONGEST_WHY = 2000;

function tableOf(rows: readonly ManifestRow[]): string[] {
  if (rows.length === 0) return [];
  const cells = [
    ['WHERE', 'OBJECT', 'OUTCOME', 'TRIES', 'WHY'],
    ...rows.map((row) => [
      `${row.file}:${row.line}`,
      objectName(row),
      row.outcome,
      String(row.attempts),
      why(row),
    ]),
  ];
  return tableLines(cells);
}

function why({ reason, warnings }: ManifestRow): string {
  const all = [reason, ...warnings.map((warning) => `warning: ${warning}`)];
  return shown(all.filter((text) => text !== '').join('; '), LONGEST_WHY);
}

function objectName({ kind, namespace, name }: ManifestRow): string {
  if (kind === '') return '-';
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
}
