import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../lib/base/errors/failure.ts';
import { type Identity, identityOf } from '../../lib/change/identity/identity.ts';
import { identityChange } from '../../lib/change/identity/request.ts';
import { siteFolder } from '../../lib/change/site/places.ts';
import { type ReconfigureRequest, siteChange } from '../../lib/change/site/request.ts';
import { parseSiteConfig } from '../../lib/config/site-config/read.ts';
import { SITE_CONFIG, type SiteConfig } from '../../lib/config/site-config/site-config.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { credentialsIn } from '../../lib/relocation/site-volume/credentials.ts';
import { extraManifests } from '../../lib/relocation/site-volume/extra-manifests.ts';
import { judgingTime } from '../../lib/relocation/site-volume/judge.ts';
import { parseVolumeManifest } from '../../lib/relocation/site-volume/manifest.ts';
import {
  type SiteCredentials,
  type VerifiedVolume,
  VOLUME_FILES,
} from '../../lib/relocation/site-volume/volume.ts';
import { readRenderInput } from '../../lib/render/render-input.ts';
import type { KeylessInput } from '../../lib/render/renderer.ts';
import { type HostContext, plainHost, signedRights } from '../steps/host-context.ts';

/** The host, and what its site wants. */
export interface ReconfigureContext extends HostContext {
  readonly request: ReconfigureRequest;
  readonly site: SiteConfig;
  readonly credentials: SiteCredentials;
  readonly manifests: VerifiedVolume['manifests'];
  /** The contents of backup-to.json; undefined: that of the node stays. */
  readonly backupTo: string | undefined;
}

/** @throws Failure (usage) if nothing was accepted */
export async function reconfigureContext(paths: HostPaths): Promise<ReconfigureContext> {
  const request = await siteChange.read(paths);
  if (request === undefined) {
    throw new Failure('usage', 'no site volume was accepted', {
      expected: siteChange.requestPath(paths),
      fix: 'Insert one: "reconfigure run" looks for it.',
    });
  }
  const host = await plainHost(paths);
  const files = await siteVolumeFiles(paths);
  const text = (name: string) => Buffer.from(files.get(name) ?? '').toString();
  // As when it was accepted.
  const now = judgingTime(parseVolumeManifest(text(VOLUME_FILES.manifest)), new Date(request.at));
  const site = parseSiteConfig(text(SITE_CONFIG), SITE_CONFIG, { files, now });
  const credentials = credentialsIn(files, now);
  const manifests = extraManifests(files);
  const backupTo = files.has(VOLUME_FILES.backupTo) ? text(VOLUME_FILES.backupTo) : undefined;
  return { ...host, ...signedRights(host), request, site, credentials, manifests, backupTo };
}

/** The verified files of the volume that is being carried out, by their names on it. */
export async function siteVolumeFiles(paths: HostPaths): Promise<ReadonlyMap<string, Uint8Array>> {
  const folder = siteFolder(paths);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const read = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [relative(folder, path), await readFile(path)] as const;
  });
  return new Map(await Promise.all(read));
}

/** As messages name it. */
export const describeReconfigure = ({ volume }: ReconfigureRequest): string =>
  `the site configuration ${volume.serial}`;

/** @throws Failure (fatal) on a host that has lost what its control plane was rendered from */
export async function presentInput({
  paths,
}: Pick<ReconfigureContext, 'paths'>): Promise<KeylessInput> {
  const input = await readRenderInput(paths);
  if (input !== undefined) return input;
  throw new Failure('fatal', '/etc/sno-agents/render-input.json does not exist', {
    expected: 'what the control plane was rendered from',
  });
}

/**
 * Whether the change of the identity has begun. It stops and starts the control plane and signs certificates by itself, also
 * after a restart of the host: what must be done before the change must not be repeated then.
 */
export async function hasIdentityBegun(
  context: Pick<ReconfigureContext, 'paths' | 'request'>,
): Promise<boolean> {
  if ((await identityChange.read(context.paths)) !== undefined) return true;
  return !isDeepStrictEqual(identityOf(await presentInput(context)), context.request.from);
}

/** The identity that the host gets, with these addresses of its Node. */
export function wantedIdentity(
  { request: { from }, site }: Pick<ReconfigureContext, 'request' | 'site'>,
  node: Pick<Identity, 'nodeIps' | 'machineNetwork'> = from,
): Identity {
  const isRenamed = site.renameNode && site.hostname !== undefined;
  return {
    hostname: isRenamed ? (site.hostname ?? from.hostname) : from.hostname,
    nodeIps: node.nodeIps,
    machineNetwork: node.machineNetwork,
    clusterName: site.clusterName,
    baseDomain: site.baseDomain,
  };
}
