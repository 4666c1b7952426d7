import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { beginChange, requireIdle } from '../../lib/change/exclusion.ts';
import { identityOf } from '../../lib/change/identity/identity.ts';
import {
  fetchedPath,
  mediumFolder,
  seenPath,
  siteFolder,
  workFolder,
} from '../../lib/change/site/places.ts';
import {
  type ReconfigureRequest,
  recordUse,
  siteChange,
  usedVolumes,
} from '../../lib/change/site/request.ts';
import type { UsedVolume } from '../../lib/change/site/used-volume.ts';
import { updateChange } from '../../lib/change/update/request.ts';
import { keepStickNotes } from '../../lib/engine/console/stick-notes.ts';
import { readTextIfPresent, writeFileAtomic } from '../../lib/host/files.ts';
import type { Medium } from '../../lib/host/media/find-media.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { stateFile } from '../../lib/host/state-file.ts';
import {
  ageIdentityPath,
  type FactoryPolicy,
  readFactoryPolicy,
} from '../../lib/relocation/relocatable/policy.ts';
import type { VolumeManifest } from '../../lib/relocation/site-volume/manifest.ts';
import { openVolume } from '../../lib/relocation/site-volume/open-volume.ts';
import { type VerifiedVolume, VOLUME_FILES } from '../../lib/relocation/site-volume/volume.ts';
import { sealedKeysFault } from './arrival-faults.ts';
import { isRefusal, placeToAsk, volumeFrom } from './ask-url.ts';
import { noteAnswer } from './asked.ts';
import { readHostFacts } from './host-facts.ts';
import { type Inserted, insertedVolume, isMoreInserted } from './inserted.ts';
import { type KnownNode, knownNode } from './known-node.ts';
import { placeReportTo } from './place-report-to.ts';
import { keepResultRecipient } from './result-recipient.ts';
import { tellEnd, tellRefusal } from './tell-medium.ts';
import { recordWayBack } from './way-back.ts';

/** What was found, for the console: nothing to do, or a request that is to be carried out. */
export type Arrival =
  | { readonly kind: 'nothing'; readonly note: string }
  | { readonly kind: 'request'; readonly request: ReconfigureRequest };

/**
 * Looks for a site volume, and accepts it. Until the request is written, nothing on the host has changed.
 *
 * @throws Failure (usage) with everything that is wrong with the volume
 */
export async function arrive(paths: HostPaths, signal: AbortSignal): Promise<Arrival> {
  await recordWayBack(paths);
  await keepStickNotes(paths, []);
  const underWay = await siteChange.read(paths);
  if (underWay !== undefined) {
    await recordUse(paths, underWay.volume);
    // Of an agent that was killed when it had written its request: what was not encrypted is readable in it.
    await rm(mediumFolder(paths), { recursive: true, force: true });
    return { kind: 'request', request: underWay };
  }
  // Left by an agent that was killed after it had ended its request.
  await rm(siteFolder(paths), { recursive: true, force: true });
  const policy = await readFactoryPolicy(paths);
  if (policy === undefined) return nothing('this host is not relocatable');
  try {
    const inserted = await insertedVolume(paths, signal);
    if (inserted.kind === 'none') return await withoutMedium(paths, policy, inserted, signal);
    await requireIdle(paths, 'site');
    const node = await requireNode(paths, policy);
    return await judged(paths, { node, policy }, inserted.medium, signal);
  } finally {
    await rm(mediumFolder(paths), { recursive: true, force: true });
    await rm(fetchedPath(paths), { force: true });
  }
}

/** Without a medium, a sealed host asks its factory's URL. What comes by a network must be signed. */
async function withoutMedium(
  paths: HostPaths,
  policy: FactoryPolicy,
  { notes, seen }: Extract<Inserted, { kind: 'none' }>,
  signal: AbortSignal,
): Promise<Arrival> {
  await keepStickNotes(
    paths,
    notes.map(({ screen }) => screen),
  );
  const place = await placeToAsk(paths, policy, signal);
  const isUntold = policy.siteUrl === 'dhcp' && place === undefined;
  const untold = isUntold ? ['DHCP names no URL for a site volume (option 224)'] : [];
  const reasons = notes.map(({ journal }) => journal);
  const none = ['no site volume is inserted', ...reasons, ...untold];
  const url = place?.isDue === true ? place.url : undefined;
  if (url !== undefined) await requireIdle(paths, 'site');
  const fetched = url === undefined ? undefined : await volumeFrom(paths, url, signal);
  if (await isMoreInserted(paths, seen, signal)) return await arrive(paths, signal);
  if (url === undefined || fetched === undefined) return nothing(none.join('\n'));
  if (fetched.kind === 'none') return nothing([...none, fetched.why].join('\n'));
  const node = await requireNode(paths, policy);
  const strict = { ...policy, unsignedAllowed: false };
  // What is not carried out is not judged again until another one is there: the timer asks on.
  const judgedNow = () => noteAnswer(paths, url, { judged: fetched.sha256 });
  try {
    const arrival = await judged(paths, { node, policy: strict }, { inserted: url }, signal);
    if (arrival.kind === 'nothing') await judgedNow();
    return arrival;
  } catch (error) {
    if (isRefusal(error)) await judgedNow();
    throw error;
  }
}

/** Whether the volume whose files are in the folder of media is carried out. A medium is told why not. */
async function judged(
  paths: HostPaths,
  by: { readonly node: KnownNode; readonly policy: FactoryPolicy },
  source: Medium | Pick<Medium, 'inserted'>,
  signal: AbortSignal,
): Promise<Arrival> {
  const medium = 'device' in source ? source : undefined;
  let trusted: VolumeManifest | undefined;
  const trust = (manifest: VolumeManifest) => {
    trusted = manifest;
  };
  try {
    const volume = await opened(paths, { ...by, trust }, signal);
    const why = await whyNotAgain(paths, source, volume);
    if (why === undefined) {
      const begin = () => accepted(paths, volume, by.node, signal);
      return { kind: 'request', request: await beginChange(paths, begin) };
    }
    if (medium !== undefined) await tellAgain(paths, medium, volume.use, signal);
    return nothing(why);
  } catch (error) {
    if (medium !== undefined && trusted !== undefined) {
      await tellRefusal(paths, medium, { error, serial: trusted.serial }, signal);
    }
    throw error;
  }
}

/** For a person who inserts the volume again: its result, if the host lost power before it could report it. */
async function tellAgain(
  paths: HostPaths,
  medium: Medium,
  use: UsedVolume,
  signal: AbortSignal,
): Promise<void> {
  const last = await siteChange.last(paths);
  if (last?.volume.sha256 === use.sha256) await tellEnd(paths, medium, last, signal);
}

const nothing = (note: string): Arrival => ({ kind: 'nothing', note });

async function opened(
  paths: HostPaths,
  by: {
    readonly node: KnownNode;
    readonly policy: FactoryPolicy;
    trust(manifest: VolumeManifest): void;
  },
  signal: AbortSignal,
): Promise<VerifiedVolume> {
  const { node, policy, trust } = by;
  return openVolume(
    mediumFolder(paths),
    {
      allowedSigners: policy.allowedSigners,
      unsignedAllowed: policy.unsignedAllowed,
      ageIdentity: await readTextIfPresent(ageIdentityPath(paths)),
      used: await usedVolumes(paths),
      facts: await readHostFacts(paths, node, policy),
      now: new Date(),
    },
    workFolder(paths),
    signal,
    trust,
  );
}

/**
 * Keeps the verified files, then the request, then its use: a power cut leaves nothing half begun. A volume that was used
 * without a request would not be taken again.
 */
async function accepted(
  paths: HostPaths,
  volume: VerifiedVolume,
  node: KnownNode,
  signal: AbortSignal,
): Promise<ReconfigureRequest> {
  const folder = siteFolder(paths);
  await rm(folder, { recursive: true, force: true });
  for (const [name, contents] of volume.files) {
    await mkdir(dirname(join(folder, name)), { recursive: true, mode: 0o700 });
    await writeFileAtomic(join(folder, name), contents, 0o600);
  }
  // By its time the files are judged again whenever they are read.
  const manifest = await readFile(join(mediumFolder(paths), VOLUME_FILES.manifest));
  await writeFileAtomic(join(folder, VOLUME_FILES.manifest), manifest, 0o600);
  // Before the request: a site that fails and is taken back is reported, too.
  await placeReportTo(paths, volume.files.get(VOLUME_FILES.reportTo), signal);
  await keepResultRecipient(paths, volume.files.get(VOLUME_FILES.resultRecipient));
  const update = await updateChange.last(paths);
  const request: ReconfigureRequest = {
    schemaVersion: 1,
    id: randomUUID(),
    at: new Date().toISOString(),
    volume: volume.use,
    from: identityOf(node),
    ...(update === undefined ? {} : { afterUpdate: update.id }),
  };
  await siteChange.write(paths, request);
  await recordUse(paths, volume.use);
  return request;
}

const seenSchema = z.object({ sha256: z.string(), inserted: z.string() });
const seenFile = (paths: HostPaths) =>
  stateFile(seenPath(paths), seenSchema, { damaged: 'none', folderMode: 0o700 });

/**
 * A volume that is in use does nothing. One that failed is tried again when somebody has inserted it again, but not
 * because the host, which went back, has restarted with it.
 */
async function whyNotAgain(
  paths: HostPaths,
  { inserted }: Pick<Medium, 'inserted'>,
  { use, isKnown }: VerifiedVolume,
): Promise<string | undefined> {
  if (!isKnown) return undefined;
  const last = await siteChange.last(paths);
  if (last?.volume.sha256 !== use.sha256) return 'this host has used the volume before';
  if (last.outcome === 'configured') return 'the host is configured as the volume says';
  const seen = await seenFile(paths).read();
  if (seen?.sha256 === use.sha256 && seen.inserted !== inserted) return undefined;
  await seenFile(paths).write({ sha256: use.sha256, inserted });
  const how = last.outcome === 'reverted' ? 'was taken back' : 'failed';
  return `the volume ${how} here: to use it all the same, insert it again, or insert a corrected one`;
}

async function requireNode(paths: HostPaths, policy: FactoryPolicy): Promise<KnownNode> {
  const node = await knownNode(paths, policy);
  if (node === undefined) {
    throw refused('/etc/sno-agents/render-input.json', 'no such file');
  }
  const sealed = sealedKeysFault(node.cluster);
  if (sealed !== undefined) throw refused('keys that lie on the disk', sealed);
  return node;
}

const refused = (expected: string, found: string): Failure =>
  new Failure('usage', 'this host cannot be reconfigured', {
    code: 'reconfigure-refused',
    expected,
    found,
    fix: 'See docs/relocation.md for which hosts can be reconfigured.',
  });
