import type { HostPaths } from '../lib/host/paths.ts';
import { runApproveCsr, runBootkube, runInstallToDisk, runProgress } from './bootkube/main.ts';
import {
  runCertificates,
  runDeferred,
  runPayload,
  runPostReboot,
  runRestore,
} from './post-reboot/main.ts';

type Run = (paths: HostPaths, args: readonly string[]) => Promise<number>;

/** Every agent by the name of its link; each is one plan. */
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
} as const satisfies Record<string, Run>;

export function isAgentName(name: string): name is keyof typeof agents {
  return Object.hasOwn(agents, name);
}
