import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Limits } from '../../lib/base/wait/limits.ts';
import { applyChanged } from '../../lib/clients/kube/apply-changed.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { Discovery } from '../../lib/clients/kube/discovery.ts';
import { decodeManifests, type Manifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { deferredAccess } from '../../lib/clients/rights/deferred.ts';
import { deferrable } from '../../lib/cluster/deferred/deferrable.ts';
import { writeExpiry } from '../../lib/cluster/deferred/expiry.ts';
import {
  deferredFile,
  deferredFolder,
  deferredGroups,
  readDeferred,
} from '../../lib/cluster/deferred/manifests.ts';
import { agentLinks } from '../../lib/engine/agents/links.ts';
import { DEFERRED_AGENT } from '../../lib/engine/agents/table.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { exists, type NewFile, removeFile, writeFileAtomic } from '../../lib/host/files.ts';
import { placeLinks } from '../../lib/host/links.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { enableUnits, reloadUnits } from '../../lib/host/systemd.ts';
import { deferredIdentityOf } from '../../lib/render/deferred-identity.ts';
import { agentsTrust, deferredIdentityFiles } from '../../lib/render/kubernetes/kubeconfigs.ts';
import { deferredUnit } from '../../units/installed.ts';
import { readAuthority } from '../steps/leaf-files.ts';
import { presentInput, type ReconfigureContext } from './context.ts';

/*
 * A manifest of the volume whose kind an operator serves only later does not hold up PASS: it is handed to sno-deferred,
 * as in an installation.
 */

const HOUR_MS = 3_600_000;
const UNIT = `/etc/systemd/system/${deferredUnit.name}`;
const WANTED = `/etc/systemd/system/multi-user.target.wants/${deferredUnit.name}`;
/** After all manifests of the installation, which are numbered from 1. */
const FIRST = 5000;
const OF_A_SITE = /^[5-9]\d{3}\./;

const fileOf = (paths: HostPaths, all: readonly Manifest[], manifest: Manifest): NewFile => {
  const { name, contents } = deferredFile(manifest, FIRST + all.indexOf(manifest));
  return { path: paths.onHost(join(deferredFolder(paths), name)), contents, mode: 0o600 };
};

/** Every file and link that handing over creates, as paths on the host; none that exists already. */
export async function heldBackPaths({
  paths,
  cluster,
  manifests,
}: Pick<ReconfigureContext, 'paths' | 'cluster' | 'manifests'>): Promise<string[]> {
  const waiting = [...deferrable(manifests)].map((each) => fileOf(paths, manifests, each).path);
  if (waiting.length === 0) return [];
  const own = deferredIdentityOf(cluster.controlPlane);
  const identity = own === undefined ? [] : [...Object.values(own), agentsTrust];
  const links = [WANTED, ...agentLinks([DEFERRED_AGENT]).map(({ path }) => path)];
  const others = [...identity, UNIT, ...links];
  const created: string[] = [...waiting];
  for (const path of others) if (!(await exists(paths.at(path)))) created.push(path);
  return created;
}

/** Applies what is served now, and hands the rest over. Applying again changes nothing that is as it should be. */
export async function applyOrHoldBack(
  context: Pick<ReconfigureContext, 'paths' | 'settings' | 'cluster' | 'manifests'>,
  client: KubeClient,
  progress: Pick<Progress, 'say'>,
  limits: Limits,
): Promise<void> {
  const { manifests } = context;
  const served = await servedNow(client, manifests, limits);
  await applyChanged(client, served, limits);
  const later = manifests.filter((each) => !served.includes(each));
  await holdBack(context, client, later, limits);
  for (const { kind, name, apiVersion } of later) {
    progress.say(`${kind} ${name}: waits until ${apiVersion} serves it (sno-deferred status)`);
  }
}

/** Those whose kind the API serves now, or will because the volume defines it. */
export async function servedNow(
  client: KubeClient,
  manifests: readonly Manifest[],
  limits: Limits,
): Promise<readonly Manifest[]> {
  const mayWait = deferrable(manifests);
  const discovery = new Discovery(client);
  const served: Manifest[] = [];
  for (const manifest of manifests) {
    const isServed =
      !mayWait.has(manifest) || (await discovery.find(manifest, limits)) !== undefined;
    if (isServed) served.push(manifest);
  }
  return served;
}

/** Hands manifests to sno-deferred, which begins when everything else is done. Those of an earlier site wait no longer. */
export async function holdBack(
  context: Pick<ReconfigureContext, 'paths' | 'settings' | 'cluster' | 'manifests'>,
  client: KubeClient,
  manifests: readonly Manifest[],
  limits: Limits,
): Promise<void> {
  const { paths, settings } = context;
  const files = manifests.map((each) => fileOf(paths, context.manifests, each));
  const names = files.map(({ path }) => basename(path));
  for (const { path } of await readDeferred(paths)) {
    const isOther = OF_A_SITE.test(basename(path)) && !names.includes(basename(path));
    if (isOther) await removeFile(path);
  }
  if (files.length === 0) return;
  await mkdir(deferredFolder(paths), { recursive: true, mode: 0o700 });
  await write(paths, files);
  const waiting = await readDeferred(paths);
  const access = deferredAccess(deferredGroups(waiting)).flatMap(
    (object) => decodeManifests('sno-deferred', JSON.stringify(object)).manifests,
  );
  await applyChanged(client, access, limits);
  await writeIdentity(context);
  await writeExpiry(paths, new Date(Date.now() + settings.deferredExpiryHours * HOUR_MS));
  await placeLinks(paths, agentLinks([DEFERRED_AGENT]));
  await write(paths, [{ path: UNIT, contents: deferredUnit.contents, mode: 0o644 }]);
  await enableUnits([deferredUnit.name], limits.signal);
  await reloadUnits(limits.signal);
}

/** Whether there is something for sno-deferred to do. */
export const hasHeldBack = (paths: HostPaths): Promise<boolean> => exists(paths.at(UNIT));

/** A host on which manifests wait since the installation has it already. */
async function writeIdentity(
  context: Pick<ReconfigureContext, 'paths' | 'cluster'>,
): Promise<void> {
  const { paths, cluster } = context;
  const own = deferredIdentityOf(cluster.controlPlane);
  if (own === undefined || (await exists(paths.at(own.kubeconfig)))) return;
  const input = await presentInput(context);
  const admin = await readAuthority(paths, 'admin');
  const serving = await readAuthority(paths, 'serving');
  await write(paths, await deferredIdentityFiles(input, { admin, serving }));
}

async function write(
  paths: HostPaths,
  files: readonly Pick<NewFile, 'path' | 'contents' | 'mode'>[],
): Promise<void> {
  for (const { path, contents, mode } of files) {
    await writeFileAtomic(paths.at(path), contents, mode);
  }
}
