import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError } from '../../lib/base/errors/failure.ts';
import { askedName } from '../../lib/change/site/asked-name.ts';
import { askedPath, fetchedPath, mediumFolder } from '../../lib/change/site/places.ts';
import type { ShippedHostFacts } from '../../lib/config/site-config/host-facts.ts';
import { run } from '../../lib/host/command.ts';
import { fetchFile } from '../../lib/host/fetch.ts';
import { exists, writeFileAtomic } from '../../lib/host/files.ts';
import { copyImage } from '../../lib/host/media/read-unprivileged.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { sealedPath } from '../../lib/host/paths.ts';
import type { FactoryPolicy } from '../../lib/relocation/relocatable/policy.ts';
import { VOLUME_LIMITS } from '../../lib/relocation/site-volume/volume.ts';

/** For an address by DHCP: a switch learns for half a minute. */
const LINK_MS = 60_000;
const FETCH_MS = 60_000;
const READ_MS = 30_000;
/** The files of a volume, and what an ISO adds to them. */
const MOST_BYTES = VOLUME_LIMITS.bytes + (1 << 20);

/** Where a sealed host asks for its volume; undefined if its factory has fixed no URL, or it has asked in this boot. */
export async function urlToAsk(
  paths: HostPaths,
  { siteUrl }: Pick<FactoryPolicy, 'siteUrl'>,
  facts: Pick<ShippedHostFacts, 'identifiers'>,
): Promise<string | undefined> {
  const name = facts.identifiers.map(askedName).find((each) => each !== undefined);
  if (siteUrl === undefined || name === undefined || !(await exists(sealedPath(paths)))) {
    return undefined;
  }
  if (await exists(askedPath(paths))) return undefined;
  return `${siteUrl.replace(/\/+$/, '')}/${name}`;
}

/**
 * Asks once in each boot, and copies the files of the volume to the folder of media, where they are judged like a medium. The URL
 * serves the ISO of `sno create site-volume`. Returns why there is no volume; the host then waits for a medium.
 */
export async function askUrl(
  paths: HostPaths,
  url: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const image = fetchedPath(paths);
  try {
    await mkdir(dirname(askedPath(paths)), { recursive: true, mode: 0o700 });
    await writeFileAtomic(askedPath(paths), `${url}\n`, 0o600);
    await rm(image, { force: true });
    const limits = { signal, deadlineMs: LINK_MS + READ_MS };
    await run('nm-online', ['--quiet', `--timeout=${LINK_MS / 1000}`], limits);
    await fetchFile(url, image, MOST_BYTES, { signal, deadlineMs: FETCH_MS });
    const time = { signal, deadlineMs: READ_MS };
    await copyImage(paths, { file: image, from: url }, mediumFolder(paths), VOLUME_LIMITS, time);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return `no site volume from ${url}: ${describeError(error)}`;
  } finally {
    await rm(image, { force: true });
  }
}
