import { whyNodeNotReady } from '../../clients/kube/node-ready.ts';
import type { Conditioned, Lease, Node } from '../../clients/kube/resources.ts';
import { whyApiServiceUnavailable, whyLeaseUnsettled } from '../../clients/kube/steady-state.ts';
import {
  type Around,
  type Fact,
  moving,
  type SteadyFinding,
  type SteadyJudgement,
  unknown,
} from './finding.ts';
import { plannedForNode } from './planned-restart.ts';

/** Evidence of any time. */
const EVER = new Date(0);

/** This host's Node is Ready by a heartbeat of this boot, and no restart of it is planned. */
export function judgeNode(
  nodes: readonly Node[],
  name: string,
  { bootTime }: Pick<Around, 'bootTime'>,
): SteadyJudgement {
  const node = nodes.find(({ metadata }) => metadata.name === name);
  const why = whyNodeNotReady(node, bootTime);
  const isOld = why !== undefined && whyNodeNotReady(node, EVER) === undefined;
  const object = `Node ${name}`;
  const findings: SteadyFinding[] =
    why === undefined
      ? []
      : [(isOld ? unknown : moving)(object, `is not known to be Ready: ${why}`)];
  const { unschedulable } = node?.spec ?? {};
  return {
    findings: [
      ...findings,
      ...(unschedulable === true ? [moving(object, 'is cordoned')] : []),
      ...(node === undefined ? [] : plannedForNode(node)),
    ],
    facts: [[`${object} uid`, node?.metadata.uid]],
  };
}

/** The leaders hold their Leases since this boot. */
export function judgeLeases(
  leases: readonly Lease[],
  names: readonly string[],
  { now, bootTime }: Pick<Around, 'now' | 'bootTime'>,
): SteadyJudgement {
  return {
    findings: names.flatMap((name): SteadyFinding[] => {
      const why = whyLeaseUnsettled(name, leases, now, bootTime);
      if (why === undefined) return [];
      const isOld = whyLeaseUnsettled(name, leases, now, EVER) === undefined;
      return [(isOld ? unknown : moving)(`Lease kube-system/${name}`, `has no leader: ${why}`)];
    }),
    facts: names.map((name): Fact => {
      const lease = leases.find(({ metadata }) => metadata.name === name);
      return [`Lease kube-system/${name} holder`, lease?.spec?.holderIdentity ?? undefined];
    }),
  };
}

export const judgeApiServices = (all: readonly Conditioned[]): SteadyJudgement => ({
  findings: all.flatMap((each) => {
    const why = whyApiServiceUnavailable(each);
    return why === undefined ? [] : [moving(`APIService ${each.metadata.name}`, why)];
  }),
  facts: all.map(({ metadata }): Fact => [`APIService ${metadata.name} uid`, metadata.uid]),
});
