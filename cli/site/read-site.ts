import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { jsonFaults } from '../../lib/base/errors/schema-faults.ts';
import { parseJson } from '../../lib/base/json.ts';
import { BACKUP_TO } from '../../lib/change/backup/push/backup-to.ts';
import { hostFactsSchema, type ShippedHostFacts } from '../../lib/config/site-config/host-facts.ts';
import { filesNamedIn, parseSiteConfig } from '../../lib/config/site-config/read.ts';
import { SITE_CONFIG, type SiteConfig } from '../../lib/config/site-config/site-config.ts';
import { REPORT_TO, type ReportTo } from '../../lib/engine/report/report-to.ts';
import { readSmallFile } from '../../lib/host/given-file.ts';
import { extraManifests } from '../../lib/relocation/site-volume/extra-manifests.ts';
import { requireAcceptedCertificates } from '../../lib/relocation/site-volume/shown-certificate.ts';
import { VOLUME_FILES } from '../../lib/relocation/site-volume/volume.ts';
import { valueFaults } from '../create/defer-manifests.ts';
import { notReadBySite } from '../create/not-read.ts';
import { readConfigText } from '../create/read-install-config.ts';
import { readUserManifests } from '../create/user-manifests.ts';
import { askNmstatectl } from '../nmstate/ask-nmstatectl.ts';
import { readBackupTo } from './read-backup-to.ts';
import { readReportTo } from './read-report-to.ts';

/** A site without faults. */
export interface Site {
  readonly config: SiteConfig;
  /** What a volume carries of it, by the path there. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** To whom the node reports; undefined if nobody is named beside site-config.yaml. */
  readonly reportTo?: ReportTo;
  /** Files in extra-manifests that are not manifests. */
  readonly skipped: readonly string[];
  /** A sentence for each file beside site-config.yaml that is not read. */
  readonly notRead: readonly string[];
}

export interface SiteSource {
  /** The folder of site-config.yaml. */
  readonly dir: string;
  readonly text: string;
  /** What messages call the text. */
  readonly name: string;
}

/** What is beside site-config.yaml without being named in it, which all rows of a table have in common. */
export interface SiteManifests {
  /** By the path on a volume: manifests, to whom the node reports, and where it stores its backups. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly skipped: readonly string[];
  readonly notRead: readonly string[];
  readonly reportTo?: ReportTo;
}

/** Of one certificate or key. */
const MAX_NAMED_BYTES = 1 << 20;

export async function siteSource(path: string): Promise<SiteSource> {
  const text = await readConfigText(path, 'its folder with --dir');
  return { dir: dirname(path), text, name: basename(path) };
}

/** @throws Failure (usage) with every fault of the configuration, or of the manifests beside it */
export async function readSite(
  { dir, text, name }: SiteSource,
  {
    facts,
    now,
    signal,
    manifests,
  }: {
    facts: ShippedHostFacts | undefined;
    now: Date;
    signal: AbortSignal;
    /** If they were read before. */
    manifests?: SiteManifests;
  },
): Promise<Site> {
  const named = new Map<string, Uint8Array>();
  for (const path of filesNamedIn(text)) {
    const contents = await namedFile(join(dir, path));
    if (contents !== undefined) named.set(path, contents);
  }
  const config = parseSiteConfig(text, name, { files: named, now }, facts);
  await requireAcceptedCertificates(config, text, name);
  await askNmstatectl(config.networkConfig, 'raw_nm_state_config', signal);
  const { files, ...beside } = manifests ?? (await readManifests(dir, signal));
  return {
    config,
    files: new Map([[SITE_CONFIG, Buffer.from(text)], ...named, ...files]),
    ...beside,
  };
}

/** The extra-manifests, the report-to.json and the backup-to.json beside site-config.yaml. @throws Failure (usage) with every fault of them */
export async function readManifests(dir: string, signal: AbortSignal): Promise<SiteManifests> {
  const { manifests, skipped, faults } = await readUserManifests(dir, signal, [
    VOLUME_FILES.manifests,
  ]);
  if (faults.length > 0) throw new Failure('usage', faults.join('\n'));
  const report = await readReportTo(dir);
  const backupTo = await readBackupTo(dir);
  const files = new Map<string, Uint8Array>([
    ...(report === undefined ? [] : [[REPORT_TO, Buffer.from(report.text)] as const]),
    ...(backupTo === undefined ? [] : [[BACKUP_TO, Buffer.from(backupTo)] as const]),
    ...manifests.map(({ path, contents }) => [path, contents] as const),
  ]);
  const faulty = extraManifests(files).flatMap(valueFaults);
  if (faulty.length > 0) throw new Failure('usage', faulty.join('\n'));
  const notRead = await notReadBySite(dir);
  return { files, skipped, notRead, ...(report === undefined ? {} : { reportTo: report.to }) };
}

/** Undefined if there is no such file: the field's fault says so. */
async function namedFile(path: string): Promise<Uint8Array | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isFile() !== true) return undefined;
  if (stats.size <= MAX_NAMED_BYTES) return readFile(path);
  throw new Failure('usage', `${path} is no certificate and no key`, {
    expected: `at most ${MAX_NAMED_BYTES} bytes`,
    found: `${stats.size}`,
  });
}

/** `host-facts.json`; undefined without a path. @throws Failure (usage) */
export async function readShippedFacts(
  path: string | undefined,
): Promise<ShippedHostFacts | undefined> {
  if (path === undefined) return undefined;
  const text = await readSmallFile(path, 'The facts of the node');
  const parsed = hostFactsSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('usage', `${path} has no facts of a node`, {
    expected: 'host-facts.json, as the factory has written it',
    found: jsonFaults(text, parsed.error),
  });
}
