import { buildReport } from './build-report.ts';
import type { BundleView, CollectFailure } from './bundle-view.ts';
import type { GatherOutcome } from './gather-record.ts';
import { reportPage } from './html/page.ts';
import { IN_BUNDLE } from './html/parts.ts';
import type { ReportDocument } from './schema.ts';
import { summaryText } from './summary.ts';

export interface ReportFile {
  readonly path: 'report.html' | 'report.json' | 'SUMMARY.txt';
  readonly contents: string;
}

export interface ReportOptions {
  /** The outcomes so far, as in gather.json. */
  readonly outcomes?: readonly SourceOutcome[];
  readonly isInterrupted?: boolean;
  /** Absent if it is not known. */
  readonly isEncrypted?: boolean | undefined;
}

type SourceOutcome = Pick<GatherOutcome, 'path' | 'leftOut' | 'failure'>;

/** Analyses a bundle. Never throws because of file contents. */
export function analyze(
  view: BundleView,
  { outcomes = [], isInterrupted = false, isEncrypted }: ReportOptions = {},
): ReportDocument {
  const failures = outcomes.flatMap(failureOf);
  return buildReport({ ...withOneFileKept(view), failures }, { isInterrupted, isEncrypted });
}

/** The three report files, as stored in a bundle. */
export function reportFiles(report: ReportDocument): ReportFile[] {
  return [
    { path: 'report.html', contents: reportPage(report, IN_BUNDLE) },
    { path: 'report.json', contents: reportJson(report) },
    { path: 'SUMMARY.txt', contents: summaryText(report) },
  ];
}

export const reportJson = (report: ReportDocument): string =>
  `${JSON.stringify(report, null, 2)}\n`;

function failureOf({ path, failure, leftOut }: SourceOutcome): CollectFailure[] {
  if (failure !== undefined) return [{ path, reason: failure }];
  return leftOut > 0 ? [{ path, reason: `truncated: ${leftOut} bytes are missing` }] : [];
}

/** A view that caches the last file read: rules read the same file many times. */
function withOneFileKept(view: BundleView): BundleView {
  return {
    atMs: view.atMs,
    paths: () => view.paths(),
    lines: rememberLast((path) => view.lines(path)),
    json: rememberLast((path) => view.json(path)),
  };
}

function rememberLast<T>(read: (path: string) => T): (path: string) => T {
  let last: { readonly path: string; readonly content: T } | undefined;
  return (path) => {
    if (last?.path !== path) {
      // Released before the next one is read: both at once would take a lot of memory.
      last = undefined;
      last = { path, content: read(path) };
    }
    return last.content;
  };
}
