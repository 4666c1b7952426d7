import { Failure } from '../../../lib/base/errors/failure.ts';
import { type RotationRequest, rotationChange } from '../../../lib/change/rotation/request.ts';
import { runOutsideSandbox } from '../../../lib/host/outside-sandbox.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type RenewContext, renewContext } from '../../steps/certificates/context.ts';
import { type ControlPlaneRights, signedRights } from '../../steps/host-context.ts';

/** The host, and what is rotated. Its rights are signed by the authority of the moment. */
export interface RotateContext extends RenewContext, ControlPlaneRights {
  readonly request: RotationRequest;
  /** Runs nft with these rules, outside the sandbox of the unit. */
  runNft(rules: string, signal: AbortSignal): Promise<void>;
}

const NFT_MS = 30_000;

/**
 * The rules are an argument: with SELinux, nft runs in a domain (iptables_t) that may not read files of an agent. In one
 * line, since they become the description of its unit.
 */
async function runNft(rules: string, signal: AbortSignal): Promise<void> {
  const lines = rules.split('\n').map((line) => line.trim());
  const command = lines.filter((line) => line !== '').join('; ');
  await runOutsideSandbox('nft', [command], { signal, deadlineMs: NFT_MS });
}

/** @throws Failure (usage) if no rotation was requested, or cluster.json is invalid. */
export async function rotateContext(paths: HostPaths): Promise<RotateContext> {
  const request = await rotationChange.read(paths);
  if (request !== undefined) {
    const context = await renewContext(paths);
    return { ...context, ...signedRights(context), request, runNft };
  }
  throw new Failure('usage', 'no rotation was requested', {
    expected: rotationChange.requestPath(paths),
    fix: 'Use "sno-certificates rotate-ca" or "sno-certificates rotate-keys".',
  });
}
