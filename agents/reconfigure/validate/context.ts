import { randomUUID } from 'node:crypto';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import {
  type FactoryPolicy,
  readFactoryPolicy,
} from '../../../lib/relocation/relocatable/policy.ts';
import { readRenderInput } from '../../../lib/render/render-input.ts';
import { type HostContext, hostContext, signedRights } from '../../steps/host-context.ts';
import { type KnownNode, knownNode } from '../known-node.ts';
import { kubernetesPlatform } from './kubernetes.ts';
import { openShiftPlatform } from './openshift.ts';
import type { Platform } from './platform.ts';

export interface ValidateContext extends HostContext {
  /** Each run looks again. */
  readonly id: string;
  readonly policy: FactoryPolicy;
  readonly node: KnownNode;
  readonly platform: Platform;
}

/** @throws Failure (usage) on a host that is not relocatable */
export async function validateContext(paths: HostPaths): Promise<ValidateContext> {
  const policy = await readFactoryPolicy(paths);
  const node = policy === undefined ? undefined : await knownNode(paths, policy);
  if (policy === undefined || node === undefined) {
    throw new Failure('usage', 'this node is not relocatable; nothing was changed', {
      fix: 'Run "reconfigure prepare" first.',
    });
  }
  const host = await hostContext(paths);
  const input = await readRenderInput(paths);
  const platform =
    input === undefined ? openShiftPlatform(host, policy) : kubernetesPlatform(host, input);
  return { ...host, ...signedRights(host), id: randomUUID(), policy, node, platform };
}
