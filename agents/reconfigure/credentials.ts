import { join } from 'node:path';
import { z } from 'zod';
import { kubeconfigPath, reconfigureFolder } from '../../lib/change/site/places.ts';
import { done } from '../../lib/engine/steps/step.ts';
import { readTextIfPresent, removeFile } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { stateFile } from '../../lib/host/state-file.ts';
import { createAuthority, type Successor } from '../../lib/pki/authority.ts';
import { inspectCertificate, validityOf } from '../../lib/pki/certificate.ts';
import { rekeyLeaf } from '../../lib/pki/leaf.ts';
import {
  type AuthorityName,
  authorityPaths,
  laptopAdminCa,
  ownServing,
} from '../../lib/render/kubernetes/authorities.ts';
import { apiServerPod } from '../../lib/render/kubernetes/kube-apiserver.ts';
import { rotatableLeaves } from '../../lib/render/kubernetes/leaves.ts';
import { trustFiles } from '../../lib/render/kubernetes/trust.ts';
import type { StaticPod } from '../../lib/render/renderer.ts';
import { removeKeptFile, writeKeptFiles } from '../../lib/secrets/seal/files.ts';
import { podsIn } from '../steps/control-plane-pods.ts';
import { readAuthority } from '../steps/leaf-files.ts';
import { withPresentFiles } from '../steps/read-once.ts';
import { placeStaticPod } from '../steps/static-pods.ts';
import { hasIdentityBegun, presentInput, type ReconfigureContext } from './context.ts';
import type { SiteStep } from './or-back.ts';

const stagedSchema = z.object({
  id: z.uuid(),
  changes: z.array(z.object({ path: z.string(), contents: z.string(), mode: z.number() })),
});
type Changes = z.infer<typeof stagedSchema>['changes'];

export const stagedPath = (paths: Pick<HostPaths, 'state'>) =>
  join(reconfigureFolder(paths), 'credentials.json');
const stagedFile = (paths: HostPaths) =>
  stateFile(stagedPath(paths), stagedSchema, { damaged: 'none-if-read' });

/**
 * The authorities of the site, and everything that they sign or are trusted by. They are made once and kept until the
 * end: an interrupted attempt continues with the same ones. Nothing that reads them is running.
 */
export const credentials: SiteStep = {
  name: 'credentials',
  leaves:
    "the site's authorities in place of the factory's, whose administrators are refused; an API server with the site's certificate",
  touches: ['disk', 'clock'],
  neededUntil: 'start',
  async holds(context) {
    // The change of the identity signs some of them again.
    if (await hasIdentityBegun(context)) return true;
    const changes = await staged(context);
    if (changes === undefined) return false;
    for (const { path, contents } of changes) {
      if ((await readTextIfPresent(context.paths.at(path))) !== contents) return false;
    }
    const { present, wanted } = await apiServer(context);
    return present === wanted?.manifest;
  },
  async run(context) {
    const changes = (await staged(context)) ?? (await stage(context));
    // The kubeconfig of an earlier site, whose administrators are refused from here on.
    await removeFile(kubeconfigPath(context.paths));
    await writeKeptFiles(context.paths, changes);
    // Unless the site has such an authority, no laptop's administrators are accepted any more.
    const keepsLaptop = changes.some(({ path }) => path === laptopAdminCa);
    if (!keepsLaptop) await removeKeptFile(context.paths, laptopAdminCa);
    const { wanted } = await apiServer(context);
    if (wanted !== undefined) await placeStaticPod(context.paths, wanted);
    return done(`${changes.length} files`);
  },
};

/**
 * The manifest of the API server as the host has it, and as it must be: with the certificate of the site, or without the
 * certificate of an earlier site. A change of the identity, if there is one, renders it again.
 */
async function apiServer(
  context: ReconfigureContext,
): Promise<{ present?: string; wanted?: Pick<StaticPod, 'file' | 'manifest'> }> {
  const { paths } = context;
  const placed = (await podsIn(paths.staticPods)).find(
    ({ component }) => component === 'kube-apiserver',
  );
  if (placed === undefined) return {};
  const manifest = await withPresentFiles(paths, apiServerPod(await presentInput(context)));
  return { present: placed.manifest, wanted: { file: placed.file, manifest } };
}

async function staged({ paths, request }: ReconfigureContext): Promise<Changes | undefined> {
  const data = await stagedFile(paths).read();
  return data?.id === request.id ? data.changes : undefined;
}

async function stage({ paths, request, credentials: given }: ReconfigureContext): Promise<Changes> {
  const now = new Date();
  const replacing = async (name: AuthorityName) => {
    const { certificate } = await readAuthority(paths, name);
    return createAuthority(`${name}-ca`, { now, validFrom: validityOf(certificate).notBefore });
  };
  // The key of the volume is also on its copies.
  const serving =
    given.kind === 'authorities' ? ownServing(given.servingCa, now) : replacing('serving');
  const made = new Map<AuthorityName, Successor>([
    ['serving', await serving],
    ['admin', await replacing('admin')],
  ]);
  const administrators = given.kind === 'authorities' ? given.adminCa.certificate : '';
  const changes = await changesFor(paths, made, administrators, now);
  await stagedFile(paths).write({ id: request.id, changes });
  return changes;
}

/**
 * Every file that follows from new authorities.
 *
 * @param administrators of the laptop, trusted beside the host's own; empty: nobody
 */
async function changesFor(
  paths: HostPaths,
  made: ReadonlyMap<AuthorityName, Successor>,
  administrators: string,
  now: Date,
): Promise<Changes> {
  const read = (path: string) => readTextIfPresent(paths.at(path));
  const changes: Changes = [];
  for (const leaf of rotatableLeaves) {
    const authority = made.get(leaf.authority);
    const old = await read(leaf.certificate);
    if (authority === undefined || old === undefined) continue;
    const signed = await rekeyLeaf(old, authority, now);
    const chain = inspectCertificate(old).serverAuth ? (authority.cross ?? '') : '';
    changes.push({ path: leaf.key, contents: signed.key, mode: 0o600 });
    changes.push({ path: leaf.certificate, contents: signed.certificate + chain, mode: 0o644 });
  }
  for (const { path, authorities, trustsLaptop } of trustFiles) {
    if (!authorities.some((name) => made.has(name)) || (await read(path)) === undefined) continue;
    const pairs = await Promise.all(
      authorities.map(async (name) => made.get(name) ?? (await readAuthority(paths, name))),
    );
    const trusted = pairs.map((pair) => pair.certificate).join('');
    changes.push({ path, contents: trusted + (trustsLaptop ? administrators : ''), mode: 0o644 });
  }
  for (const [name, pair] of made) {
    changes.push({ path: authorityPaths(name).key, contents: pair.key, mode: 0o600 });
    changes.push({
      path: authorityPaths(name).certificate,
      contents: pair.certificate,
      mode: 0o644,
    });
  }
  if (administrators !== '') {
    changes.push({ path: laptopAdminCa, contents: administrators, mode: 0o644 });
  }
  return changes;
}
