import { randomUUID } from 'node:crypto';
import { Failure } from '../../../../lib/errors/failure.ts';
import type { HostPaths } from '../../../../lib/host/paths.ts';
import { type FactoryPolicy, readFactoryPolicy } from '../../../../lib/relocatable/policy.ts';
import { readRenderInput } from '../../../../lib/render/render-input.ts';
import type { KeylessInput } from '../../../../lib/render/renderer.ts';
import { type HostContext, hostContext, signedRights } from '../../../steps/host-context.ts';

export interface ValidateContext extends HostContext {
  /** Each run looks again. */
  readonly id: string;
  readonly policy: FactoryPolicy;
  readonly renderInput: KeylessInput;
}

/** @throws Failure (usage) on a host that is not relocatable */
export async function validateContext(paths: HostPaths): Promise<ValidateContext> {
  const policy = await readFactoryPolicy(paths);
  const renderInput = await readRenderInput(paths);
  if (policy === undefined || renderInput === undefined) {
    throw new Failure('usage', 'this node is not relocatable; nothing was changed', {
      fix: 'Run "reconfigure prepare" first.',
    });
  }
  const host = await hostContext(paths);
  return { ...host, ...signedRights(host), id: randomUUID(), policy, renderInput };
}
