import { Failure } from '../../../lib/base/errors/failure.ts';
import { inputFor } from '../../../lib/change/identity/identity.ts';
import { type IdentityRequest, identityChange } from '../../../lib/change/identity/request.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { readRenderInput } from '../../../lib/render/render-input.ts';
import type { KeylessInput } from '../../../lib/render/renderer.ts';
import { type HostContext, hostContext, signedRights } from '../../steps/host-context.ts';

/** The host under its new name, and what changes. */
export interface IdentityContext extends HostContext {
  readonly request: Omit<IdentityRequest, 'schemaVersion'>;
}

/** @throws Failure (usage) if no change was requested, or cluster.json is invalid. */
export async function identityContext(paths: HostPaths): Promise<IdentityContext> {
  const request = await identityChange.read(paths);
  if (request === undefined) {
    throw new Failure('usage', 'no change of the identity was requested', {
      fix: 'Run "sno-identity change".',
    });
  }
  const context = await hostContext(paths);
  const { settings } = context;
  return {
    ...context,
    ...signedRights(context),
    request,
    settings: request.settlesLater === true ? { ...settings, settlingWindowMs: 0 } : settings,
    hostname: () => request.to.hostname,
    // Before the request everything was as it had been: only what happened since counts.
    bootTime: async (signal) => later(await context.bootTime(signal), new Date(request.at)),
  };
}

const later = (a: Date, b: Date): Date => (a > b ? a : b);

/**
 * What the control plane of this host is rendered from, for an identity.
 * @throws Failure (fatal) on a host that does not have it
 */
export async function inputOf(
  { paths }: Pick<IdentityContext, 'paths'>,
  identity: IdentityRequest['to'],
): Promise<KeylessInput> {
  const input = await readRenderInput(paths);
  if (input === undefined) {
    throw new Failure('fatal', '/etc/sno-agents/render-input.json does not exist', {
      expected: 'what the control plane was rendered from',
    });
  }
  return inputFor(input, identity);
}
