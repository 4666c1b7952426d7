import { z } from 'zod';
import { parseCpuSet } from './cpu-set.ts';

/** What the kubelet will be started with; CPUs as numbers. */
export interface CpuManager {
  readonly online: readonly number[];
  /** Set: the policy is static, and these stay shared. */
  readonly reserved: readonly number[] | undefined;
}

/** The kubelet's checkpoint (kubernetes/pkg/kubelet/cm/cpumanager/state/checkpoint.go). */
const stateSchema = z.object({
  policyName: z.string(),
  defaultCpuSet: z.string(),
  /** CPUs by pod and container. */
  entries: z.record(z.string(), z.record(z.string(), z.string())).optional(),
});

/**
 * Why the kubelet would not start with this `cpu_manager_state`; undefined if it would. The rules are those of
 * its static policy (policy_static.go, validateState) and of the checkpoint's restore: the state names
 * every CPU of the host and no other, and the policy that is configured.
 */
export function misfitOfCpuState(
  text: string,
  { online, reserved }: CpuManager,
): string | undefined {
  const state = parse(text);
  if (state === undefined) return 'it cannot be read';
  const policy = reserved === undefined ? 'none' : 'static';
  if (state.policyName !== policy) {
    return `it is of the policy ${shown(state.policyName)}, and the policy is ${policy}`;
  }
  if (reserved === undefined) return undefined;
  const shared = cpusOf(state.defaultCpuSet);
  const given = Object.values(state.entries ?? {}).flatMap((containers) =>
    Object.values(containers).map(cpusOf),
  );
  if (shared === undefined || given.some((cpus) => cpus === undefined)) return 'it cannot be read';
  const there = new Set(online);
  const named = new Set([...shared, ...given.flatMap((cpus) => cpus ?? [])]);
  if (named.size !== there.size || [...named].some((cpu) => !there.has(cpu))) {
    return `it is of a host with the CPUs ${listed(named)}, and this one has ${listed(there)}`;
  }
  const taken = reserved.filter((cpu) => !shared.includes(cpu));
  return taken.length === 0
    ? undefined
    : `it gives containers the CPUs ${listed(new Set(taken))}, which are reserved`;
}

function parse(text: string): z.infer<typeof stateSchema> | undefined {
  try {
    return stateSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** An empty set is an empty string. */
const cpusOf = (list: string): number[] | undefined => (list === '' ? [] : parseCpuSet(list));

const shown = (name: string) => JSON.stringify(name.slice(0, 40));

const listed = (cpus: ReadonlySet<number>) => [...cpus].toSorted((a, b) => a - b).join(',');
