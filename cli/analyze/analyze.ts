import { writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { reportPage } from '../../report/html/page.ts';
import { linksTo, NO_LINKS } from '../../report/html/parts.ts';
import { analyze, reportFiles, reportJson } from '../../report/report.ts';
import { summary } from '../../report/summary.ts';
import { textView } from '../../report/text-view.ts';
import type { Surroundings } from '../surroundings.ts';
import { archiveAt } from './encrypted-archive.ts';
import { extractArchive } from './extract.ts';
import type { LoadedBundle } from './loaded-bundle.ts';
import { kindOf, loadArchive, loadFolder } from './read-bundle.ts';

export interface AnalyzeOptions {
  readonly json?: true;
  readonly html?: string;
  readonly to?: string;
  readonly identity?: string;
}

/**
 * `sno analyze BUNDLE`: repeats the analysis that gather makes on the host, on the
 * files of a log bundle. A report inside the bundle is ignored. Prints the summary
 * or report.json.
 * @throws Failure (usage) if it is not a log bundle
 */
export async function analyzeBundle(
  path: string,
  options: AnalyzeOptions,
  { print, signal }: Pick<Surroundings, 'print' | 'signal'>,
): Promise<void> {
  const { bundle, folder } = await load(path, options, signal);
  const { atMs, isInterrupted, isEncrypted, outcomes, missed } = bundle.facts();
  const report = analyze(textView(atMs, bundle), { outcomes, isInterrupted, isEncrypted });
  if (options.to !== undefined) {
    for (const { path: name, contents } of reportFiles(report)) {
      await writeFile(join(options.to, name), contents, { mode: 0o600, flag: 'wx' });
    }
  }
  if (options.html !== undefined) {
    const show =
      folder === undefined ? NO_LINKS : linksTo(relative(dirname(options.html), folder) || '.');
    await writePage(options.html, reportPage(report, show));
  }
  if (options.json === true) {
    print(reportJson(report).trimEnd());
    return;
  }
  const lost = report.notCollected.slice(report.notCollected.length - missed);
  print(summary(report).trimEnd());
  for (const { path: name, reason } of lost) print(`Not analysed: ${name}: ${reason}`);
  print(`For the complete report: sno analyze ${path} --html report.html`);
}

/** The files to analyse; `folder`: where all files of the bundle are on disk, if they are. */
async function load(
  path: string,
  { to, identity }: AnalyzeOptions,
  signal: AbortSignal,
): Promise<{ bundle: LoadedBundle; folder: string | undefined }> {
  const kind = await kindOf(path);
  if (kind === 'folder' && to !== undefined) {
    throw new Failure('usage', `${path} is already unpacked`, { fix: 'Leave out --to.' });
  }
  if (kind === 'folder') return loadFolder(path, signal);
  const archive = await archiveAt(path, identity, signal);
  const bundle = await loadArchive(archive, signal);
  if (to !== undefined) await extractArchive(archive, to, signal);
  return { bundle, folder: to };
}

/**
 * 0600, as it contains addresses and names of the site. Replaces an earlier page,
 * but nothing other than a regular file.
 */
async function writePage(path: string, page: string): Promise<void> {
  try {
    await writeFileAtomic(path, page, 0o600);
  } catch (cause) {
    throw new Failure('usage', `--html: ${path} cannot be written`, { cause });
  }
}
