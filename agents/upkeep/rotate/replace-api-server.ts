import { join } from 'node:path';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { exists, readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';
import {
  type SurgePod,
  surgeFile,
  surgeName,
  surgePod,
} from '../../../lib/render/kubernetes/surge-pod.ts';
import { noSurgeRedirect, surgeRedirect } from '../../../lib/render/kubernetes/surge-redirect.ts';
import type { PodOnHost } from '../../steps/control-plane-pods.ts';
import { placeStaticPod, removeStaticPods } from '../../steps/static-pods.ts';
import { replacePod } from './replace-pod.ts';

/** What the second API server may need; its pod requests half of it. */
const SURGE_MEMORY_KIB = 1024 * 1024;

/** The host on which an API server is replaced. */
export interface ApiServerHost {
  readonly paths: HostPaths;
  readonly cluster: Parameters<typeof surgeRedirect>[0];
  /** Runs nft with these rules. */
  runNft(rules: string, signal: AbortSignal): Promise<void>;
  /** Waits until the pod runs as its manifest says and its program is ready. @throws Failure (deadline) */
  ready(pod: SurgePod, progress: Progress): Promise<void>;
}

/**
 * Replaces the API server by one with another manifest, while a second one with the new manifest answers in its place.
 * Nothing is stopped before that one is ready: files that do not work are found without an outage. `endSurge` is the
 * other half, after the new first one is ready.
 */
export async function replaceApiServer(
  host: ApiServerHost,
  pod: PodOnHost,
  progress: Progress,
): Promise<void> {
  const second = surgePod(pod.manifest);
  await placeStaticPod(host.paths, second);
  await host.ready(second, progress);
  await host.runNft(surgeRedirect(host.cluster), progress.signal);
  await replacePod(host.paths, pod, progress);
}

/** Turns connections back to the first API server and ends the second one, if there is one. */
export async function endSurge(host: ApiServerHost, progress: Progress): Promise<void> {
  const { paths } = host;
  if (!(await exists(join(paths.staticPods, surgeFile)))) return;
  await host.runNft(noSurgeRedirect, progress.signal);
  await removeStaticPods(paths, [{ file: surgeFile, container: surgeName }], progress);
}

/** Why this host cannot run a second API server; undefined if it can. */
export async function whyNoSurge(paths: HostPaths): Promise<string | undefined> {
  if (!(await isInstalled('nft'))) return 'nft is not installed';
  const addresses = (await readTextIfPresent(paths.at('/proc/net/if_inet6'))) ?? '';
  if (!/^0{31}1 .* lo$/m.test(addresses)) return 'the host has no address ::1';
  const memory = (await readTextIfPresent(paths.at('/proc/meminfo'))) ?? '';
  const available = Number(/^MemAvailable: +(\d+) kB$/m.exec(memory)?.[1] ?? 0);
  if (available >= SURGE_MEMORY_KIB) return undefined;
  return `${Math.round(available / 1024)} MiB of memory are available, and a second one may need ${SURGE_MEMORY_KIB / 1024} MiB`;
}
