import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { parseJson } from '../../../lib/base/json.ts';
import { credentialFiles } from '../../../lib/relocation/site-volume/credentials.ts';
import { type SiteCredentials, VOLUME_FILES } from '../../../lib/relocation/site-volume/volume.ts';
import { METADATA_NAME } from '../../create/metadata.ts';
import type { OutputFile } from '../../create/outputs.ts';
import { AUTH_FILES, type MadeCredentials } from '../../site/make-volume.ts';
import type { Hub } from './hub.ts';
import { type HubSecret, type HubSite, hubKinds, metadataOf } from './kinds.ts';

/** What `sno create single-node-iso` makes once, and uses again if it is there. */
export interface MadeInstallation {
  /** The text of the live host's Ignition config; undefined once the node is installed: nobody is to have its keys any more. */
  readonly config: string | undefined;
  readonly outputs: readonly OutputFile[];
}

export const isInstallation = (made: Kept['made']): made is MadeInstallation =>
  !('credentials' in made);

/** What is made once for a serial, and kept on the hub before anybody else can have it. */
export interface Kept {
  readonly serial: number;
  /** Of the Site: another one with its name has keys of its own. */
  readonly uid: string;
  /** What the volume is made of, as a digest. */
  readonly source: string;
  /** Its paths are those of AUTH_FILES, and of metadata.json. */
  readonly made: MadeCredentials | MadeInstallation;
  /** The text of report-to.json; undefined: the node cannot report. */
  readonly reportTo: string | undefined;
  /** Which machines the Site has claimed. */
  readonly machines: readonly string[];
  /** The name of the ISO in the published folder: whoever does not know it does not find it. */
  readonly iso: string;
  /** Of the ISO, or of the config that makes it this one; undefined until it is complete. */
  readonly sha256: string | undefined;
  /** Names that nodes ask for, in the published folder. */
  readonly asked: readonly string[];
}

/** The same as the hub has it. */
export interface StoredKept extends Kept {
  readonly resourceVersion: string | undefined;
}

export const keptName = (site: string) => `${site}-auth`;

const namesSchema = z.array(z.string().max(253)).max(1000);
const facts = z.object({
  serial: z.int(),
  uid: z.string(),
  source: z.string(),
  iso: z.string().regex(/^[0-9a-f]{32}$/),
  sha256: z.string().optional(),
  machines: namesSchema,
  /** None of them leads out of the folder. */
  asked: z.array(z.string().regex(/^[a-z0-9][a-z0-9._-]{0,253}\.site$/)).max(1000),
});

/** Keys of the Secret: what is no key or certificate is in one of them. */
const KEYS = {
  facts: 'volume.json',
  reportTo: 'report-to.json',
  kubeconfig: 'kubeconfig',
  key: 'admin.key',
  servingCa: 'serving-ca.crt',
  servingCaKey: 'serving-ca.key',
  adminCa: 'admin-ca.crt',
  request: 'admin.csr',
  metadata: METADATA_NAME,
  config: 'live.ign.gz',
} as const;

/** Of a config that fits a live ISO, with much to spare: what a Secret has was written by others, perhaps. */
const MOST_CONFIG_BYTES = 64 << 20;

/** Undefined if there is none yet. @throws Failure (fatal) for a Secret that is not one of these */
export async function readKept(hub: Hub, site: HubSite): Promise<StoredKept | undefined> {
  const name = keptName(site.metadata.name);
  const secret = await hub.find(hubKinds.secrets, name);
  if (secret === undefined) return undefined;
  const kept = keptIn(secret);
  if (kept !== undefined) return { ...kept, resourceVersion: secret.metadata.resourceVersion };
  throw new Failure('fatal', `the Secret ${name} is not one of sno fleet, or was changed`, {
    fix: 'Move it away: the site then gets a new administrator.',
  });
}

/**
 * Keeps what an earlier serial was made with: its node may be at work, with this administrator and no other. It stays if the
 * Site is deleted.
 */
export async function setAside(hub: Hub, site: HubSite, kept: Kept): Promise<void> {
  const name = `${keptName(site.metadata.name)}-${kept.serial}`;
  const keep = (as: string) =>
    hub.create(hubKinds.secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadataOf(site, as, { isOwned: false }),
      type: 'Opaque',
      data: dataOf(kept),
    });
  if (await keep(name)) return;
  const present = await hub.find(hubKinds.secrets, name);
  if (present !== undefined && keptIn(present)?.iso === kept.iso) return;
  // An earlier Site of this name had this serial, too: its node may be at work as well.
  await keep(`${name}-${kept.iso.slice(0, 8)}`);
}

/** Writes it, unless somebody else has written meanwhile. @throws Failure (retry) in that case */
export async function writeKept(
  hub: Hub,
  site: HubSite,
  kept: Kept,
  resourceVersion: string | undefined,
): Promise<StoredKept> {
  const name = keptName(site.metadata.name);
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...metadataOf(site, name, { isOwned: true }), resourceVersion },
    type: 'Opaque',
    data: dataOf(kept),
  };
  if (resourceVersion === undefined) await hub.create(hubKinds.secrets, body);
  else await hub.replace(hubKinds.secrets, name, body);
  const stored = await readKept(hub, site);
  if (stored?.serial === kept.serial && stored.iso === kept.iso) return stored;
  throw new Failure('retry', `the Secret ${name} was written by somebody else`, {
    fix: 'Run this command again, once at a time for each Site.',
  });
}

function dataOf({ made, reportTo, ...rest }: Kept): Record<string, string> {
  const { serial, uid, source, iso, sha256, machines, asked } = rest;
  const isInstalled = isInstallation(made);
  const files = isInstalled ? new Map<string, string>() : credentialFiles(made.credentials);
  const config = isInstalled && made.config !== undefined ? gzipSync(made.config) : undefined;
  const output = (path: string) => made.outputs.find((each) => each.path === path)?.contents;
  const file = (path: string) => files.get(path);
  const entries: [string, string | Uint8Array | undefined][] = [
    [KEYS.facts, JSON.stringify({ serial, uid, source, iso, sha256, machines, asked })],
    [KEYS.reportTo, reportTo],
    [KEYS.kubeconfig, output(AUTH_FILES.kubeconfig)],
    [KEYS.key, output(AUTH_FILES.key)],
    [KEYS.servingCa, file(VOLUME_FILES.servingCa)],
    [KEYS.servingCaKey, file(VOLUME_FILES.servingCaKey)],
    [KEYS.adminCa, file(VOLUME_FILES.adminCa)],
    [KEYS.request, file(VOLUME_FILES.adminRequest)],
    [KEYS.metadata, output(METADATA_NAME)],
    [KEYS.config, config],
  ];
  return Object.fromEntries(
    entries.flatMap(([key, value]) =>
      value === undefined ? [] : [[key, Buffer.from(value).toString('base64')]],
    ),
  );
}

function keptIn({ data = {} }: HubSecret): Kept | undefined {
  const text = (key: string) => {
    const value = data[key];
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
  };
  const parsed = facts.safeParse(parseJson(text(KEYS.facts)));
  const outputs = [
    { path: AUTH_FILES.kubeconfig, contents: text(KEYS.kubeconfig) },
    { path: AUTH_FILES.key, contents: text(KEYS.key) },
    { path: METADATA_NAME, contents: text(KEYS.metadata) },
  ].flatMap(({ path, contents }) => (contents === undefined ? [] : [{ path, contents }]));
  const credentials = credentialsOf(text);
  const made = credentials === undefined ? installationOf(data, outputs) : { credentials, outputs };
  if (!parsed.success || made === undefined) return undefined;
  const { sha256, ...rest } = parsed.data;
  return { ...rest, sha256, made, reportTo: text(KEYS.reportTo) };
}

function installationOf(
  data: NonNullable<HubSecret['data']>,
  outputs: readonly OutputFile[],
): MadeInstallation | undefined {
  if (!outputs.some(({ path }) => path === METADATA_NAME)) return undefined;
  const packed = data[KEYS.config];
  if (packed === undefined) return { config: undefined, outputs };
  try {
    const bytes = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MOST_CONFIG_BYTES });
    return { config: bytes.toString('utf8'), outputs };
  } catch {
    return undefined;
  }
}

function credentialsOf(text: (key: string) => string | undefined): SiteCredentials | undefined {
  const request = text(KEYS.request);
  if (request !== undefined) return { kind: 'request', request };
  const certificate = text(KEYS.servingCa);
  const key = text(KEYS.servingCaKey);
  const admin = text(KEYS.adminCa);
  if (certificate === undefined || key === undefined || admin === undefined) return undefined;
  return {
    kind: 'authorities',
    servingCa: { certificate, key },
    adminCa: { certificate: admin },
  };
}
