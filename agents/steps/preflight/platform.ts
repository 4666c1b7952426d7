import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { connectHostRuntime, runningSocket } from '../../../lib/clients/cri/runtime.ts';
import { cgroupVersion } from '../../../lib/host/cgroup.ts';
import { exists } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { payloadFile, readPayload } from '../../../lib/payload/payload.ts';
import { hostDemands, RUNTIME_CONFIG_REQUIRED } from '../../../lib/payload/supported.ts';
import type { PlainHost } from '../host-context.ts';
import { mediumPayload } from '../payload-folder.ts';
import { REQUEST_DEADLINE_MS } from '../request-deadline.ts';
import { bad, type Check, good } from './check.ts';

/** What a version of Kubernetes may demand of a host. */
export interface HostPlatform {
  readonly cgroup: 1 | 2;
  /** Undefined: no container runtime runs. */
  readonly runtime?: {
    /** Name and version, such as `containerd 1.6.20`. */
    readonly name: string;
    /** Whether it tells the kubelet its cgroup driver (RuntimeConfig of CRI). */
    readonly hasConfig: boolean;
  };
}

/** What this host is. @throws RpcFailure if its runtime does not answer */
export async function platformOf(
  paths: Pick<HostPaths, 'runtimeSockets'>,
  signal: AbortSignal,
): Promise<HostPlatform> {
  const cgroup = await cgroupVersion();
  if (runningSocket(paths) === undefined) return { cgroup };
  using runtime = connectHostRuntime(paths);
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const { runtimeName, runtimeVersion } = await runtime.version(limits);
  const hasConfig = await runtime.hasRuntimeConfig(limits);
  return { cgroup, runtime: { name: `${runtimeName} ${runtimeVersion}`, hasConfig } };
}

export interface PlatformJudgement {
  /** Why the kubelet of that version cannot run here, and what can be done. */
  readonly problem?: { readonly what: string; readonly fix: string };
  /** What will end with a later version, one sentence each. */
  readonly notices: readonly string[];
}

/** Judges a host for a version such as v1.37.2. */
export function judgePlatform(
  kubernetes: string,
  { cgroup, runtime }: HostPlatform,
): PlatformJudgement {
  const { since } = RUNTIME_CONFIG_REQUIRED;
  const notices =
    cgroup === 1
      ? [
          'This host has cgroup v1, which Kubernetes refuses from 1.35 on unless it is told otherwise, as it is here, and which a later version will no longer take. Start the host with cgroup v2 before that: without systemd.unified_cgroup_hierarchy=0 in the kernel arguments',
        ]
      : [];
  if (runtime === undefined || runtime.hasConfig) return { notices };
  const lacks = `${runtime.name} does not tell a kubelet its cgroup driver (RuntimeConfig), which Kubernetes demands from ${since} on`;
  const newer = 'containerd 2.0 or newer, or CRI-O 1.28 or newer';
  if (hostDemands(kubernetes).runtimeConfig === 'optional')
    return { notices: [...notices, `${lacks}. Use an operating system with ${newer} before that`] };
  return {
    problem: {
      what: `${lacks}: the kubelet of ${kubernetes} would end at its start`,
      fix: `Use an operating system with ${newer}, or a payload of a Kubernetes before ${since}.`,
    },
    notices,
  };
}

/** Whether this host can run the Kubernetes of the payload. One that is still to be fetched is judged once it is there. */
export const platformCheck: Check = {
  name: 'platform',
  code: 'preflight-platform',
  async run({ paths, cluster, signal }) {
    if (cluster.controlPlane === 'openshift') return good('the release brings its runtime');
    const folder = await presentPayload(paths);
    if (folder === undefined) return good('the payload is not on this host yet');
    const { kubernetes } = (await readPayload(folder)).versions;
    const { problem, notices } = judgePlatform(kubernetes, await platformOf(paths, signal));
    return problem === undefined
      ? { ...good(`this host can run Kubernetes ${kubernetes}`), notices }
      : bad(problem.what, problem.fix);
  },
};

async function presentPayload(paths: HostPaths): Promise<string | undefined> {
  for (const folder of [mediumPayload(paths), paths.payload])
    if (await exists(join(folder, payloadFile))) return folder;
  return undefined;
}

/**
 * The same for a payload that was fetched after the preflight.
 * @returns what will end with a later version
 * @throws Failure (fatal) if the host cannot run it, unless the check only warns
 */
export async function requirePlatform(
  { paths, cluster }: Pick<PlainHost, 'paths' | 'cluster'>,
  kubernetes: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { problem, notices } = judgePlatform(kubernetes, await platformOf(paths, signal));
  if (problem === undefined) return notices;
  if (cluster.preflightWarnings.includes('platform')) return [...notices, problem.what];
  throw new Failure('fatal', problem.what, { code: 'preflight-platform', fix: problem.fix });
}
