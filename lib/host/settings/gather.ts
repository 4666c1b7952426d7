import { seconds } from './units.ts';

/** Log bundles: gather. */
export const gatherSettings = {
  /** gather: everything; what is not collected by then is left out. Documented as two minutes. */
  gatherMs: seconds(105),
  /** gather: the evidence for the report. */
  gatherDiagnosisMs: seconds(60),
  /**
   * Time of each source and request, of the usual one; more for hosts that are slow. `gatherMs` still ends the
   * whole.
   */
  gatherPatiencePercent: 100,
  /** gather: reading the secrets on this host, which are then searched for everywhere. */
  gatherSecretsMs: seconds(20),
  /** gather: maximum size of the bundle. */
  gatherMaxMiB: 4096,
  /** gather: what a bundle may take of the free space, of its source and its target. */
  gatherDiskSharePercent: 25,
  /** gather: minimum free space; with less, nothing is written to disk. */
  gatherMinFreeMiB: 64,
  /** gather: collected files kept in memory if no disk has room. */
  gatherMemoryMiB: 32,
  /** gather: recipients of age, separated by commas without blanks, for whom each bundle is encrypted; without, none is. */
  gatherRecipients: '',
  /** gather: how many small sources are collected at once. */
  gatherConcurrency: 4,
  /** gather: how many large sources are collected at once. */
  gatherBulkConcurrency: 2,
} as const;
