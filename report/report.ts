import { buildReport } from './build-report.ts';
import type { BundleView, CollectFailure } from './bundle-view.ts';
import { reportPage } from './html/page.ts';
import { summaryText } from './summary.ts';

export interface ReportFile {
  readonly path: 'report.html' | 'report.json' | 'SUMMARY.txt';
  readonly contents: string;
}

/** What became of the collection so far: `Outcome` of collect.ts, as far as the report needs it. */
export interface ReportOptions {
  readonly outcomes?: readonly {
    readonly path: string;
    readonly leftOut: number;
    readonly failure?: string;
  }[];
  readonly isInterrupted?: boolean;
}

/**
 * Explains a bundle: the same for a browser, for programs (schema.ts) and for a terminal.
 * `summary` is what SUMMARY.txt has. Never throws for what the files of the bundle hold.
 */
export function reportFiles(
  view: BundleView,
  { outcomes = [], isInterrupted = false }: ReportOptions = {},
): { files: ReportFile[]; summary: string } {
  const failures: CollectFailure[] = outcomes.flatMap(({ path, failure, leftOut }) => {
    if (failure !== undefined) return [{ path, reason: failure }];
    return leftOut > 0 ? [{ path, reason: `cut: ${leftOut} bytes are left out` }] : [];
  });
  const report = buildReport(withFailures(view, failures), isInterrupted);
  const summary = summaryText(report);
  return {
    files: [
      { path: 'report.html', contents: reportPage(report) },
      { path: 'report.json', contents: `${JSON.stringify(report, null, 2)}\n` },
      { path: 'SUMMARY.txt', contents: summary },
    ],
    summary,
  };
}

/** The view with what it lacks, which keeps the file that was read last: rules ask for one file many times. */
function withFailures(view: BundleView, failures: readonly CollectFailure[]): BundleView {
  return {
    atMs: view.atMs,
    failures,
    paths: () => view.paths(),
    lines: rememberLast((path) => view.lines(path)),
    json: rememberLast((path) => view.json(path)),
  };
}

function rememberLast<T>(read: (path: string) => T): (path: string) => T {
  let last: { readonly path: string; readonly content: T } | undefined;
  return (path) => {
    if (last?.path !== path) {
      // Before the next one is read: both at once would be a lot of memory.
      last = undefined;
      last = { path, content: read(path) };
    }
    return last.content;
  };
}
