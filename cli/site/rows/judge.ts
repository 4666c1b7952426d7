import { createHash } from 'node:crypto';
import { join } from 'node:path';
import pMap from 'p-map';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { encrypterFor } from '../../../lib/change/backup/portable/recipients.ts';
import { readDocument } from '../../../lib/config/file/document.ts';
import { IN_QUOTES } from '../../../lib/config/file/schema-faults.ts';
import type { ShippedHostFacts } from '../../../lib/config/site-config/host-facts.ts';
import { refusal } from '../../../lib/config/site-config/read.ts';
import { SITE_CONFIG } from '../../../lib/config/site-config/site-config.ts';
import { REPORT_TO } from '../../../lib/engine/report/report-to.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { VOLUME_FILES } from '../../../lib/relocation/site-volume/volume.ts';
import { requireFitting } from '../../../lib/relocation/site-volume/write-volume.ts';
import { plural } from '../../../report/reading/words.ts';
import { readConfigText } from '../../create/read-install-config.ts';
import {
  readManifests,
  readShippedFacts,
  readSite,
  type Site,
  type SiteManifests,
  siteSource,
} from '../read-site.ts';
import { type Claims, repeatedIn, sharedAddresses } from '../repeated.ts';
import { siteNotices } from '../site-notices.ts';
import { MOST_TABLE_BYTES, RECIPIENT, readTable, type SiteRow } from '../table.ts';
import { fillerOf, placeholdersIn } from '../template.ts';
import { noticesOfSites } from './notices.ts';
import { RUN_FILES, type RunInputs } from './run-record.ts';

export interface RowsSource {
  readonly table: string;
  /** The folder with the template, and what it names. */
  readonly dir: string;
  /** Has SITE.json, the host-facts.json of each row's node. */
  readonly hostFactsDir?: string;
}

/** What is kept of a row without faults: of thousands, the sites themselves would be too much. */
export interface JudgedRow {
  readonly row: SiteRow;
  /** In the file, from 1. */
  readonly line: number;
  readonly site: string;
  /** SHA-256 of what its volume is made of. */
  readonly digest: string;
  /** Undefined: that of the run. */
  readonly serial: number | undefined;
  readonly isEncrypted: boolean;
  readonly config: Claims;
  readonly notices: readonly string[];
}

/** A row with its site, which fits the node. */
export interface ReadRow {
  readonly site: Site;
  readonly facts: ShippedHostFacts | undefined;
  /** Of age; undefined: the volume is not encrypted. */
  readonly recipient: string | undefined;
  readonly digest: string;
}

/** A table without faults. */
export interface JudgedTable {
  readonly rows: readonly JudgedRow[];
  readonly notices: readonly string[];
  readonly inputs: Pick<RunInputs, 'table' | 'template' | 'files'>;
  /** The same site again. @throws Failure (usage), also if a file of it was changed meanwhile */
  read(row: JudgedRow): Promise<ReadRow>;
}

type ReadSite = (row: SiteRow) => Promise<ReadRow>;

/** @throws Failure (usage) that names every fault of every row */
export async function judgeTable(
  { table, dir, hostFactsDir }: RowsSource,
  { parallel, now, signal }: { parallel: number; now: Date; signal: AbortSignal },
): Promise<JudgedTable> {
  const text = await readConfigText(table, 'another table with --table', MOST_TABLE_BYTES);
  const template = await siteSource(join(dir, SITE_CONFIG));
  const { rows, unused, faults } = readTable(text, placeholdersIn(template.text));
  if (faults.length > 0) throw refused(faults.map((fault) => `${table}: ${fault}`));
  const found: string[] = [];
  const manifests = await readManifests(dir, signal).catch((error: unknown): SiteManifests => {
    found.push(faultText(error));
    return { files: new Map(), skipped: [], notRead: [] };
  });
  const syntax = readDocument(template.text);
  if (syntax.value === undefined && syntax.faults.length > 0) {
    throw refusal(syntax.faults, template.name);
  }
  const fill = fillerOf(template.text);
  const read: ReadSite = async (row) => {
    const facts = await factsOf(row, hostFactsDir);
    const recipient = row.cells[RECIPIENT] || facts?.recipient;
    const source = { ...template, text: fill(row.cells) };
    const site = await readSite(source, { facts, now, signal, manifests });
    return { site, facts, recipient, digest: digestOf(site, manifests, facts) };
  };
  const judged = await pMap(
    rows,
    async (row) => {
      try {
        return await judgeRow(row, await read(row), { now, signal });
      } catch (error) {
        return `${table} line ${row.line} (${row.cells.site}): ${faultText(error)}`;
      }
    },
    { concurrency: parallel, signal },
  );
  const good = judged.filter((each) => typeof each !== 'string');
  found.push(...judged.filter((each) => typeof each === 'string'));
  found.push(...repeatedIn(good).map((each) => `${table} ${each}`));
  if (rows.length > 1 && manifests.reportTo !== undefined && 'hub' in manifests.reportTo) {
    found.push(
      `${join(dir, REPORT_TO)} names one Site of a hub, and the table has several rows: use "sno create site-volume" for each site`,
    );
  }
  if (found.length > 0) throw refused(found);
  return {
    rows: good,
    notices: [
      ...unused.map(
        (name) =>
          `the column ${name} is used nowhere: the template has no placeholder of this name`,
      ),
      ...noticesOfSites(good),
      ...sharedAddresses(good).map(
        (shared) => `${table} ${shared}: right only where the networks are separate`,
      ),
    ],
    inputs: {
      table: sha256(text),
      template: sha256(template.text),
      files: filesDigest(manifests, good),
    },
    read: async (judgedRow) => unchanged(judgedRow, await read(judgedRow.row)),
  };
}

function faultText(error: unknown): string {
  if (error instanceof Failure) return describeError(error);
  throw error;
}

const factsOf = (row: SiteRow, dir: string | undefined) =>
  readShippedFacts(dir === undefined ? undefined : join(dir, `${row.cells.site}.json`));

/** As what is made of it would be. */
async function judgeRow(
  row: SiteRow,
  { site, recipient, digest }: ReadRow,
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<JudgedRow> {
  const { site: name = '' } = row.cells;
  requireFreeName(name);
  const encrypter = recipient === undefined ? undefined : encrypterFor([recipient]);
  const isEncrypted = encrypter !== undefined;
  const files = new Map([...site.files, ...credentialsOf(isEncrypted)]);
  await requireFitting({ files, encrypter }, signal);
  const notices = siteNotices(site, isEncrypted, now);
  const { hosts, clusterName, baseDomain, networkConfig, serial } = site.config;
  const config = { hosts, clusterName, baseDomain, networkConfig };
  return { row, line: row.line, site: name, digest, serial, isEncrypted, config, notices };
}

function requireFreeName(name: string): void {
  const taken: readonly string[] = Object.values(RUN_FILES);
  if (!taken.includes(name.toLowerCase())) return;
  throw new Failure('usage', `a site cannot be called ${name}`, {
    expected: `another name than those of the files of the run: ${taken.join(', ')}`,
  });
}

/** As far as they count: their keys do not exist yet. */
const credentialsOf = (isEncrypted: boolean): [string, Uint8Array][] =>
  (isEncrypted
    ? [VOLUME_FILES.servingCa, VOLUME_FILES.servingCaKey, VOLUME_FILES.adminCa]
    : [VOLUME_FILES.adminRequest]
  ).map((path) => [path, new Uint8Array()]);

function unchanged(judged: JudgedRow, read: ReadRow): ReadRow {
  if (read.digest === judged.digest) return read;
  throw new Failure('usage', `the files of ${judged.site} are not those that were judged`, {
    found: 'others since this run has begun',
    fix: 'Leave the template and all that it names alone while volumes are made.',
  });
}

/** Of what only this row has. */
function digestOf(site: Site, shared: SiteManifests, facts: ShippedHostFacts | undefined): string {
  const own = [...site.files].filter(([path]) => !shared.files.has(path));
  return digestOfFiles([...own, ['', Buffer.from(JSON.stringify(facts ?? null))]]);
}

function digestOfFiles(files: readonly (readonly [path: string, Uint8Array])[]): string {
  const hash = createHash('sha256');
  for (const [path, contents] of files) hash.update(`${path}\0${sha256(contents)}\0`);
  return hash.digest('hex');
}

function filesDigest({ files }: SiteManifests, rows: readonly JudgedRow[]): string {
  return sha256([digestOfFiles([...files]), ...rows.map(({ digest }) => digest)].join('\n'));
}

/** Who is told to write something in quotes would write them into the table, of which they are no part. */
const QUOTES =
  'Quotes go around the placeholder in the template: those of a table are not part of a cell.';

const refused = (lines: readonly string[]) =>
  new Failure(
    'usage',
    [
      `${plural(lines.length, 'error')}; nothing was written`,
      ...lines,
      ...(lines.some((line) => line.includes(IN_QUOTES)) ? [QUOTES] : []),
    ].join('\n'),
  );
