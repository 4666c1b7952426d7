import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient, Selection } from '../../clients/kube/client.ts';
import type { Discovery } from '../../clients/kube/discovery.ts';
import { type KubeObject, type Resource, resources } from '../../clients/kube/resources.ts';
import { watchObjects } from '../../clients/kube/watch-objects.ts';
import { operatorResource, staticPodOperators } from '../openshift/operators.ts';
import { judgeApiServices, judgeLeases, judgeNode } from './control-plane.ts';
import { type Around, type SteadyJudgement, unknown } from './finding.ts';
import {
  clusterOperators,
  clusterVersions,
  judgeClusterOperators,
  judgeClusterVersions,
  judgePools,
  judgeRevisions,
  machineConfigPools,
} from './openshift.ts';
import { judgeProfiles, tunedProfiles } from './planned-restart.ts';
import { judgePods, ownPods, placedPods, runsSince } from './pods.ts';
import { judgeRequests } from './requests.ts';
import {
  daemonSets,
  deployments,
  judgeDaemonSets,
  judgeDeployments,
  judgeStatefulSets,
  statefulSets,
} from './workloads.ts';

/** What the verdict is about. */
export interface SteadySubject {
  readonly nodeName: string;
  readonly bootTime: Date;
  /** Leases of kube-system that the control plane holds. */
  readonly leases: readonly string[];
}

/** The objects of one part, as a list of one moment. */
export interface Listed {
  judge(around: Around): SteadyJudgement;
  /** Namespaces in which pods have been running on this host since the boot. */
  readonly runningSinceBoot?: ReadonlySet<string>;
}

/** One kind of object that the verdict depends on. */
export interface SteadyPart {
  /** Such as `deployments.apps/v1`. */
  readonly name: string;
  /** The kind, where not every cluster serves it. */
  readonly optionalKind?: string;
  readonly apiVersion: string;
  /** Its objects now and after each change; undefined while the API does not answer. */
  follow(client: KubeClient, signal: AbortSignal): AsyncGenerator<Listed | undefined>;
}

/** Everything that must be steady, in the order in which it is reported. */
export function partsOf(subject: SteadySubject): SteadyPart[] {
  const { nodeName, bootTime, leases } = subject;
  const kubeSystem = { namespace: 'kube-system' };
  return [
    part(resources.nodes, (all, around) => judgeNode(all, nodeName, around), { mustExist: true }),
    part(resources.leases, (all, around) => judgeLeases(all, leases, around), {
      mustExist: true,
      selection: kubeSystem,
    }),
    part(resources.apiServices, judgeApiServices, { mustExist: true }),
    part(placedPods, (all, around) => judgePods(ownPods(all, nodeName), around), {
      mustExist: true,
      running: (all) =>
        all
          .filter((pod) => pod.spec?.nodeName === nodeName && runsSince(pod, bootTime))
          .map(({ metadata }) => metadata.namespace ?? ''),
    }),
    part(deployments, judgeDeployments),
    part(daemonSets, judgeDaemonSets),
    part(statefulSets, judgeStatefulSets),
    part(resources.certificateSigningRequests, (all) => judgeRequests(all, nodeName)),
    openshift(clusterVersions, 'ClusterVersion', judgeClusterVersions),
    openshift(clusterOperators, 'ClusterOperator', judgeClusterOperators),
    openshift(machineConfigPools, 'MachineConfigPool', judgePools),
    ...staticPodOperators.map((operator) =>
      openshift(operatorResource(operator), operator.kind, judgeRevisions(operator)),
    ),
    openshift(tunedProfiles, 'Profile', judgeProfiles),
  ];
}

/** Those of them that this cluster serves. */
export async function servedParts(
  parts: readonly SteadyPart[],
  discovery: Discovery,
  limits: Limits,
): Promise<SteadyPart[]> {
  const served: SteadyPart[] = [];
  for (const each of parts) {
    const { optionalKind: kind, apiVersion } = each;
    const isServed =
      kind === undefined || (await discovery.find({ apiVersion, kind }, limits)) !== undefined;
    if (isServed) served.push(each);
  }
  return served;
}

interface PartOptions<T> {
  /** An empty list says nothing: there is always at least one. */
  readonly mustExist?: boolean;
  readonly optionalKind?: string;
  readonly selection?: Selection;
  readonly running?: (all: readonly T[]) => string[];
}

const openshift = <T extends KubeObject>(
  resource: Resource<T>,
  optionalKind: string,
  judge: (all: readonly T[], around: Around) => SteadyJudgement,
): SteadyPart => part(resource, judge, { optionalKind, mustExist: true });

function part<T extends KubeObject>(
  resource: Resource<T>,
  judge: (all: readonly T[], around: Around) => SteadyJudgement,
  { mustExist = false, selection = {}, running, optionalKind }: PartOptions<T> = {},
): SteadyPart {
  const { plural, apiVersion } = resource;
  const name = `${plural}.${apiVersion}`;
  const listed = (all: readonly T[]): Listed => ({
    judge: (around) =>
      mustExist && all.length === 0
        ? { findings: [unknown(name, 'is an empty list, which says nothing')], facts: [] }
        : judge(all, around),
    ...(running === undefined ? {} : { runningSinceBoot: new Set(running(all)) }),
  });
  return {
    name,
    apiVersion,
    ...(optionalKind === undefined ? {} : { optionalKind }),
    async *follow(client, signal) {
      for await (const { objects, lost } of watchObjects(client, resource, selection, signal)) {
        yield lost === undefined ? listed([...objects.values()]) : undefined;
      }
    },
  };
}
