import { setTimeout as sleep } from 'node:timers/promises';
import { approveServingRequests } from '../../lib/csr/approver.ts';
import { type Decision, describeDecision } from '../../lib/csr/decision.ts';
import { type ThisHost, viewOfThisHost } from '../../lib/csr/this-host.ts';
import { readTextIfPresent, syncFile } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { waitForFiles } from '../../lib/host/watch.ts';
import type { KubeClient } from '../../lib/kube/client.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import type { Progress } from '../../lib/steps/progress.ts';

/** The serving certificate and key of this host's kubelet, as PEM; undefined if it has none. */
export const servingPair = (paths: HostPaths): Promise<string | undefined> =>
  readTextIfPresent(paths.at(kubeletPaths.servingPair));

export interface ApproveOptions {
  /** Whether this pair is the one that is waited for. */
  readonly isAwaited: (pem: string) => boolean;
  /** What is waited for, as the progress shows it. */
  readonly waitingFor: string;
  /** Receives each decision, which is logged in any case. */
  readonly report?: (decision: Decision) => void;
  /** After this time the wait ends without an error. */
  readonly giveUpMs?: number;
}

/**
 * Approves requests of this host's kubelet by the policy of lib/csr until the kubelet has the awaited
 * serving certificate. Only its file shows that; the API shows that a certificate was issued.
 *
 * @returns false if the time to give up has passed.
 * @throws Failure (deadline) when the time of the step has passed; the reason of the signal.
 */
export async function approveUntil(
  host: ThisHost,
  client: KubeClient,
  progress: Progress,
  { isAwaited, waitingFor, report, giveUpMs }: ApproveOptions,
): Promise<boolean> {
  const enough = new AbortController();
  const signal = AbortSignal.any([progress.signal, enough.signal]);
  const approval = approveServingRequests(client, {
    signal,
    nodeName: host.hostname(),
    host: () => viewOfThisHost(host, signal),
    report: (decision) => {
      report?.(decision);
      progress.say(...describeDecision(decision));
    },
  });
  const path = host.paths.at(kubeletPaths.servingPair);
  const holds = async () => {
    const pem = await servingPair(host.paths);
    return pem !== undefined && isAwaited(pem);
  };
  const options = { signal, deadlineMs: progress.remainingMs(), describe: () => `a new ${path}` };
  const ends = [
    approval.then(() => false),
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
