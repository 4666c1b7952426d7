import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { encrypterFor } from '../../lib/change/backup/portable/recipients.ts';
import type { ShippedHostFacts } from '../../lib/config/site-config/host-facts.ts';
import { SITE_CONFIG } from '../../lib/config/site-config/site-config.ts';
import { REPORT_TO } from '../../lib/engine/report/report-to.ts';
import { plural } from '../../report/reading/words.ts';
import { requireIsoPrograms } from '../iso/programs.ts';
import { makeVolume } from '../site/make-volume.ts';
import { readShippedFacts, readSite, type Site, siteSource } from '../site/read-site.ts';
import { repeatedIn, sharedAddresses } from '../site/repeated.ts';
import { siteNotices } from '../site/site-notices.ts';
import { RECIPIENT, readTable, type SiteRow } from '../site/table.ts';
import { filledTemplate, placeholdersIn } from '../site/template.ts';
import type { SiteMedium } from '../site/write-medium.ts';
import type { Surroundings } from '../surroundings.ts';
import { makeNewFolder } from './new-folder.ts';
import { requireAbsent } from './outputs.ts';
import { readConfigText } from './read-install-config.ts';
import { storeVolume, UNSIGNED } from './site-volume.ts';

export interface SiteVolumesOptions {
  readonly table: string;
  readonly output: string;
  /** The folder with the template, and what it names. */
  readonly dir: string;
  readonly format: string;
  readonly sign?: string;
  /** Has SITE.json, the host-facts.json of each row's node. */
  readonly hostFactsDir?: string;
}

/** Of some thousand rows. */
const MOST_TABLE_BYTES = 16 << 20;
const FORMATS: Readonly<Record<string, (folder: string) => SiteMedium>> = {
  iso: (folder) => ({ kind: 'iso', path: join(folder, 'site-volume.iso') }),
  folder: (folder) => ({ kind: 'folder', path: join(folder, 'volume') }),
};

/**
 * `sno create site-volumes`: a volume for each row of a table.
 *
 * @throws Failure (usage), with nothing written, that names every fault of every row
 */
export async function createSiteVolumes(
  options: SiteVolumesOptions,
  { environment, wrote, notice, signal }: Surroundings,
): Promise<void> {
  const { format, sign } = options;
  const output = resolve(options.output);
  const mediumIn = FORMATS[format];
  if (mediumIn === undefined) {
    throw new Failure('usage', `--format ${format} is not known; nothing was written`, {
      expected: Object.keys(FORMATS).join(' or '),
    });
  }
  if (format === 'iso') await requireIsoPrograms(environment, ['xorriso']);
  await requireAbsent([output], 'Move it away, or use another folder with --output.');
  const now = new Date();
  const { sites, unused } = await sitesOf(options, now, signal);
  const notices = new Map<string, string[]>();
  await makeNewFolder(output, async (staging) => {
    for (const { row, site, facts } of sites) {
      const { cells } = row;
      const recipient = cells[RECIPIENT] || undefined;
      const protection = {
        ...(sign === undefined ? {} : { sign }),
        ...(recipient === undefined ? {} : { recipient }),
      };
      const made = await makeVolume(site, protection, { facts, now, signal });
      for (const notice of siteNotices(site, made.isEncrypted, now)) {
        const of = notices.get(notice) ?? [];
        of.push(cells.site ?? '');
        notices.set(notice, of);
      }
      const folder = join(staging, cells.site ?? '');
      await mkdir(folder, { mode: 0o700 });
      await storeVolume(mediumIn(folder), folder, made, signal);
    }
  });
  wrote(output, `${plural(sites.length, 'volume')}, each with its auth`);
  if (sign === undefined) notice(UNSIGNED);
  for (const name of unused) {
    notice(`the column ${name} is used nowhere: the template has no placeholder of this name`);
  }
  for (const [text, of] of notices) notice(`${text} (${sitesText(of)})`);
  for (const shared of sharedAddresses(sites.map(rowConfig))) {
    notice(`${options.table} ${shared}: right only where the networks are separate`);
  }
}

const MOST_NAMED = 5;

const sitesText = (sites: readonly string[]) =>
  `${plural(sites.length, 'site')}: ${sites.slice(0, MOST_NAMED).join(', ')}${sites.length > MOST_NAMED ? ', ...' : ''}`;

const rowConfig = ({ row, site }: ReadRow) => ({ line: row.line, config: site.config });

/** A row with its site, which fits the node. */
interface ReadRow {
  readonly row: SiteRow;
  readonly site: Site;
  readonly facts: ShippedHostFacts | undefined;
}

/** Each row with its site, all without faults. */
async function sitesOf(
  { table, dir, hostFactsDir }: SiteVolumesOptions,
  now: Date,
  signal: AbortSignal,
): Promise<{ readonly sites: readonly ReadRow[]; readonly unused: readonly string[] }> {
  const text = await readConfigText(table, 'another table with --table', MOST_TABLE_BYTES);
  const template = await siteSource(join(dir, SITE_CONFIG));
  const placeholders = placeholdersIn(template.text);
  const { rows, unused, faults } = readTable(text, placeholders);
  if (faults.length > 0) throw refused(faults.map((fault) => `${table}: ${fault}`));
  const sites: ReadRow[] = [];
  const found: string[] = [];
  for (const row of rows) {
    const filled = filledTemplate(template.text, row.cells);
    try {
      const facts =
        hostFactsDir === undefined
          ? undefined
          : await readShippedFacts(join(hostFactsDir, `${row.cells.site}.json`));
      const recipient = row.cells[RECIPIENT] || undefined;
      if (recipient !== undefined) encrypterFor([recipient]);
      const site = await readSite({ ...template, text: filled }, { facts, now, signal });
      sites.push({ row, site, facts });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      found.push(`${table} line ${row.line} (${row.cells.site}): ${describeError(error)}`);
    }
  }
  found.push(...repeatedIn(sites.map(rowConfig)).map((fault) => `${table} ${fault}`));
  if (sites.length > 1 && sites.some(({ site: { reportTo } }) => reportTo && 'hub' in reportTo)) {
    found.push(
      `${join(dir, REPORT_TO)} names one Site of a hub, and the table has several rows: use "sno create site-volume" for each site`,
    );
  }
  if (found.length > 0) throw refused(found);
  return { sites, unused };
}

const refused = (lines: readonly string[]) =>
  new Failure(
    'usage',
    [`${plural(lines.length, 'error')}; nothing was written`, ...lines].join('\n'),
  );
