import { scriptNames } from '../lib/gather/names.ts';
import type { HostPaths } from '../lib/host/paths.ts';
import { runApproveCsr, runBootkube, runInstallToDisk, runProgress } from './bootkube/main.ts';
import { runGather } from './gather/main.ts';
import {
  runCertificates,
  runDeferred,
  runPayload,
  runPostReboot,
  runRestore,
} from './post-reboot/main.ts';

/** `calledAs`: by which of its names. */
type Run = (paths: HostPaths, args: readonly string[], calledAs: string) => Promise<number>;

/** Every agent by the name of its link; each but gather is one plan. */
export const agents = {
  bootkube: runBootkube,
  'install-to-disk': runInstallToDisk,
  'approve-csr': runApproveCsr,
  progress: runProgress,
  'sno-payload': runPayload,
  'sno-restore': runRestore,
  'sno-certificates': runCertificates,
  'post-reboot': runPostReboot,
  'sno-deferred': runDeferred,
  gather: runGather,
} as const satisfies Record<string, Run>;

/** The agent that is meant, if it is in this executable. */
export function agentOf(name: string): keyof typeof agents | undefined {
  if (scriptNames.some((script) => script === name))
    return isAgentName('gather') ? 'gather' : undefined;
  return isAgentName(name) ? name : undefined;
}

function isAgentName(name: string): name is keyof typeof agents {
  return Object.hasOwn(agents, name);
}
