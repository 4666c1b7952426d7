import type { Command } from 'commander';
import { type AnalyzeOptions, analyzeBundle } from '../analyze/analyze.ts';
import type { Surroundings } from '../surroundings.ts';

/** `sno analyze BUNDLE`: diagnoses the host of a log bundle. */
export function addAnalyze(sno: Command, surroundings: Surroundings): void {
  sno
    .command('analyze')
    .description('analyze a log bundle: what is wrong with its host and how to fix it')
    .argument(
      '<bundle>',
      'log-bundle-ID.tar.gz, complete or truncated, encrypted or not, or the folder it was unpacked to',
    )
    .option('--json', 'print report.json instead of the summary')
    .option('--html <file>', 'write the complete report as an HTML page')
    .option('--identity <file>', 'the secret key of a recipient, as age-keygen wrote it')
    .option('--to <dir>', 'also unpack the bundle, with the new report, into a new or empty folder')
    .action((bundle: string, options: AnalyzeOptions) =>
      analyzeBundle(bundle, options, surroundings),
    );
}
