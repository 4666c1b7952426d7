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

/** Other names by which scripts call an agent. */
const otherNames: Readonly<Record<string, keyof typeof agents>> = {
  'installer-gather.sh': 'gather',
  'installer-masters-gather.sh': 'gather',
  'installer-master-bootstrap-in-place-gather.sh': 'gather',
};

/** The agent that is meant, if it is in this executable. */
export function agentOf(name: string): keyof typeof agents | undefined {
  const agent = otherNames[name] ?? name;
  return isAgentName(agent) ? agent : undefined;
}

function isAgentName(name: string): name is keyof typeof agents {
  return Object.hasOwn(agents, name);
}
