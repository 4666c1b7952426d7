import { rename, rm } from 'node:fs/promises';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { isOtherChange } from '../../lib/change/exclusion.ts';
import { askedName } from '../../lib/change/site/asked-name.ts';
import { askingPath, fetchedPath, mediumFolder } from '../../lib/change/site/places.ts';
import type { ShippedHostFacts } from '../../lib/config/site-config/host-facts.ts';
import { run } from '../../lib/host/command.ts';
import { fetchFile } from '../../lib/host/fetch.ts';
import { exists, sha256OfFile } from '../../lib/host/files.ts';
import { copyImage } from '../../lib/host/media/read-unprivileged.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { sealedPath } from '../../lib/host/paths.ts';
import type { FactoryPolicy } from '../../lib/relocation/relocatable/policy.ts';
import { VOLUME_LIMITS } from '../../lib/relocation/site-volume/volume.ts';
import { isDue, lastAsked, noteAnswer, noteQuestion } from './asked.ts';
import { urlByDhcp } from './dhcp-url.ts';
import { readHostFacts } from './host-facts.ts';
import { knownNode } from './known-node.ts';

/** For an address by DHCP: a switch learns for half a minute. */
const LINK_MS = 60_000;
const FETCH_MS = 60_000;
const READ_MS = 30_000;
/** The files of a volume, and what an ISO adds to them. */
const MOST_BYTES = VOLUME_LIMITS.bytes + (1 << 20);

/** Where a host may get its volume, and whether it is to ask there now, or the timer has. */
export interface SiteUrl {
  readonly url: string;
  readonly isDue: boolean;
}

/**
 * Where a sealed host gets its volume; undefined if its factory has fixed no URL, the network says none, or the host does not
 * wait for its site.
 */
export async function siteUrlOf(
  paths: HostPaths,
  { siteUrl }: Pick<FactoryPolicy, 'siteUrl'>,
  facts: Pick<ShippedHostFacts, 'identifiers'>,
  signal: AbortSignal,
): Promise<SiteUrl | undefined> {
  const name = facts.identifiers.map(askedName).find((each) => each !== undefined);
  if (siteUrl === undefined || name === undefined || !(await exists(sealedPath(paths)))) {
    return undefined;
  }
  const place = siteUrl === 'dhcp' ? await urlByDhcp(signal) : siteUrl;
  if (place === undefined) return undefined;
  const url = `${place.replace(/\/+$/, '')}/${name}`;
  const isFetched = await exists(fetchedPath(paths));
  return { url, isDue: isFetched || (await isDue(await lastAsked(paths, url))) };
}

/** The same for a host with this policy. */
export async function placeToAsk(
  paths: HostPaths,
  policy: FactoryPolicy,
  signal: AbortSignal,
): Promise<SiteUrl | undefined> {
  if (policy.siteUrl === undefined) return undefined;
  const node = await knownNode(paths, policy);
  return node && siteUrlOf(paths, policy, await readHostFacts(paths, node, policy), signal);
}

/** The answer of the URL: the SHA-256 of an ISO, now at `fetchedPath`, or why there is none. */
export type Answered =
  | { readonly kind: 'iso'; readonly sha256: string }
  | { readonly kind: 'none'; readonly why: string };

/** Asks, and notes that. What is there already is replaced once all of it is fetched. */
export async function fetchIso(
  paths: HostPaths,
  url: string,
  signal: AbortSignal,
): Promise<Answered> {
  const partial = askingPath(paths);
  try {
    await noteQuestion(paths, url);
    await rm(partial, { force: true });
    const limits = { signal, deadlineMs: LINK_MS + READ_MS };
    await run('nm-online', ['--quiet', `--timeout=${LINK_MS / 1000}`], limits);
    await fetchFile(url, partial, MOST_BYTES, { signal, deadlineMs: FETCH_MS });
    const sha256 = await sha256OfFile(partial, signal);
    await rename(partial, fetchedPath(paths));
    return { kind: 'iso', sha256 };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'none', why: whyNone(url, error) };
  } finally {
    await rm(partial, { force: true });
  }
}

/** The volume of a URL: its files are in the folder of media, where they are judged like a medium. */
export type FromUrl =
  | { readonly kind: 'volume'; readonly sha256: string }
  | { readonly kind: 'none'; readonly why: string };

/**
 * Takes what the timer has fetched, or asks. The URL serves the ISO of `sno create site-volume`. Without a volume, the host waits
 * for a medium, or until it asks again. A volume that was judged before is not judged again.
 */
export async function volumeFrom(
  paths: HostPaths,
  url: string,
  signal: AbortSignal,
): Promise<FromUrl> {
  const image = fetchedPath(paths);
  try {
    const answered: Answered = (await exists(image))
      ? { kind: 'iso', sha256: await sha256OfFile(image, signal) }
      : await fetchIso(paths, url, signal);
    if (answered.kind === 'none') {
      await noteAnswer(paths, url, { answer: answered.why });
      return answered;
    }
    const { sha256 } = answered;
    if (sha256 === (await lastAsked(paths, url))?.judged) {
      return { kind: 'none', why: judgedBefore(url) };
    }
    const why = await whyNoCopy(paths, url, signal);
    if (why === undefined) return { kind: 'volume', sha256 };
    await noteAnswer(paths, url, why.isRefused ? { judged: sha256 } : {});
    return { kind: 'none', why: why.text };
  } finally {
    await rm(image, { force: true });
  }
}

/** Copies the files of the ISO to the folder of media. */
async function whyNoCopy(
  paths: HostPaths,
  url: string,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly isRefused: boolean } | undefined> {
  const image = { file: fetchedPath(paths), from: url };
  try {
    const time = { signal, deadlineMs: READ_MS };
    await copyImage(paths, image, mediumFolder(paths), VOLUME_LIMITS, time);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return { text: whyNone(url, error), isRefused: isRefusal(error) };
  }
}

/** Whether the same volume would be refused again. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Failure && error.kind === 'usage' && !isOtherChange(error);

/** What is said of a volume that is still there. */
export const judgedBefore = (url: string): string =>
  `the volume from ${url} is the one that was judged before`;

const whyNone = (url: string, error: unknown) =>
  `no site volume from ${url}: ${describeError(error)}`;
