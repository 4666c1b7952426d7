import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { canonicalAddress } from '../../lib/base/network/address.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { approveServingRequests } from '../../lib/cluster/csr/approver.ts';
import { type Decision, describeDecision } from '../../lib/cluster/csr/decision.ts';
import { type ThisHost, viewOfThisHost } from '../../lib/cluster/csr/this-host.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { readTextIfPresent, syncFile } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { waitForFiles } from '../../lib/host/watch.ts';
import { inspectCertificate, isIssuedBy } from '../../lib/pki/certificate.ts';
import { bootstrapAccess } from '../../lib/render/access.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import type { PlainHost } from './host-context.ts';

/** The serving certificate and key of this host's kubelet, as PEM; undefined if it has none. */
export const servingPair = (paths: HostPaths): Promise<string | undefined> =>
  readTextIfPresent(paths.at(kubeletPaths.servingPair));

/**
 * Whether a kubelet's serving certificate is by the cluster's present authority for them, and for
 * exactly this host's name and its node's addresses.
 */
export async function isForThisHost(
  host: ThisHost & Pick<PlainHost, 'cluster'>,
  pem: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { nodeName, nodeIps } = await viewOfThisHost(host, signal);
  const { dnsNames, ipAddresses } = inspectCertificate(pem);
  const isSame = (found: readonly string[], expected: readonly string[]) =>
    isDeepStrictEqual(new Set(found.map(canonicalAddress)), new Set(expected));
  return (
    isSame(dnsNames, [nodeName]) && isSame(ipAddresses, nodeIps) && (await isByAuthority(host, pem))
  );
}

async function isByAuthority(
  { paths, cluster }: Pick<PlainHost, 'paths' | 'cluster'>,
  pem: string,
): Promise<boolean> {
  for (const path of bootstrapAccess(cluster.controlPlane).kubeletServingAuthorities) {
    const authority = await readTextIfPresent(paths.at(path));
    if (authority !== undefined && (await isIssuedBy(pem, authority))) return true;
  }
  return false;
}

/** What the journal says where the setting `approveCertificates` is false. */
export const APPROVED_ELSEWHERE =
  'approveCertificates is false in settings.json: requests for certificates are approved elsewhere';

export interface ApproveOptions {
  /** Whether this pair is the one that is waited for. */
  readonly isAwaited: (pem: string) => boolean | Promise<boolean>;
  /** What is waited for, as the progress shows it. */
  readonly waitingFor: string;
  /** Receives each decision, which is logged in any case. */
  readonly report?: (decision: Decision) => void;
  /** After this time the wait ends without an error. */
  readonly giveUpMs?: number | undefined;
}

/**
 * Approves requests of this host's kubelet by the policy of lib/cluster/csr, if the settings allow that, until
 * the kubelet has the awaited serving certificate. Only its file shows that; the API shows that a certificate was issued.
 *
 * @returns false if the time to give up has passed.
 * @throws Failure (deadline) when the time of the step has passed; the reason of the signal.
 */
export async function approveUntil(
  host: ThisHost & Pick<PlainHost, 'settings'>,
  client: KubeClient,
  progress: Progress,
  { isAwaited, waitingFor, report, giveUpMs }: ApproveOptions,
): Promise<boolean> {
  const approve = (signal: AbortSignal) =>
    approveServingRequests(client, {
      signal,
      nodeName: host.hostname(),
      host: () => viewOfThisHost(host, signal),
      report: (decision) => {
        report?.(decision);
        progress.say(...describeDecision(decision));
      },
    });
  const path = host.paths.at(kubeletPaths.servingPair);
  return approvedUntil(path, approve, host.settings, progress, { isAwaited, waitingFor, giveUpMs });
}

/**
 * The same for a pair in any file of the kubelet, with an approver of its requests.
 *
 * @returns false if the time to give up has passed.
 * @throws Failure (deadline) when the time of the step has passed; the reason of the signal.
 */
export async function approvedUntil(
  path: string,
  approve: (signal: AbortSignal) => Promise<void>,
  { approveCertificates }: Pick<PlainHost['settings'], 'approveCertificates'>,
  progress: Progress,
  { isAwaited, waitingFor, giveUpMs }: Omit<ApproveOptions, 'report'>,
): Promise<boolean> {
  const enough = new AbortController();
  const signal = AbortSignal.any([progress.signal, enough.signal]);
  if (!approveCertificates) progress.warn(APPROVED_ELSEWHERE);
  const holds = async () => {
    const pem = await readTextIfPresent(path);
    return pem !== undefined && (await isAwaited(pem));
  };
  const options = { signal, deadlineMs: progress.remainingMs(), describe: () => `a new ${path}` };
  const ends = [
    ...(approveCertificates ? [approve(signal).then(() => false)] : []),
    waitForFiles([path], holds, options).then(() => true),
    ...(giveUpMs === undefined ? [] : [sleep(giveUpMs, false, { signal })]),
  ];
  try {
    const isThere = await progress.wait(waitingFor, () => Promise.race(ends));
    // The kubelet does not sync it, and does not start with an empty file after a power cut.
    if (isThere) await syncFile(path);
    return isThere;
  } finally {
    enough.abort();
    await Promise.allSettled(ends);
  }
}
