import { Failure } from '../../lib/base/errors/failure.ts';
import { ingressPlacement } from '../../lib/config/topology/kubernetes.ts';
import type { TopologyRow } from '../../lib/config/topology/rows.ts';
import { eventually } from '../eventually.ts';
import { HELLO_IMAGE } from '../test-workload.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const PLACED_MS = 3 * 60_000;
const NAME = 'ingress';
const pods = ['get', 'pods', '-l', `app=${NAME}`];

/** Stands for an ingress controller: its pods are placed as the row says. */
export async function deployIngress(
  cluster: RunningCluster,
  row: Pick<TopologyRow, 'ingress'>,
  signal: AbortSignal,
): Promise<void> {
  const { replicas, nodeSelector, tolerations } = ingressPlacement(row);
  const container = {
    name: NAME,
    image: HELLO_IMAGE,
    imagePullPolicy: 'Never',
    command: ['busybox', 'httpd', '-f', '-p', '8080'],
  };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: NAME, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: NAME } },
      template: {
        metadata: { labels: { app: NAME } },
        spec: {
          terminationGracePeriodSeconds: 0,
          nodeSelector,
          tolerations,
          containers: [container],
        },
      },
    },
  };
  await applyObject(cluster, deployment, signal);
}

/** Its only pod that is not being deleted runs there; returns its name. */
export async function ingressRunsOn(
  cluster: RunningCluster,
  node: string,
  signal: AbortSignal,
  /** A pod that does not count. */
  former?: string,
): Promise<string> {
  const path =
    'jsonpath={range .items[?(@.status.phase=="Running")]}{.metadata.name} {.spec.nodeName} {.status.containerStatuses[0].ready}{"\\n"}{end}';
  return eventually(
    async () => {
      const lines = (await kubectl(cluster, [...pods, '-o', path], signal)).trim().split('\n');
      const found = lines.map((line) => line.split(' '));
      const elsewhere = found.find(([, where]) => where !== undefined && where !== node);
      if (elsewhere !== undefined) {
        throw new Failure('fatal', 'the ingress pod runs on another node', {
          expected: node,
          found: lines.join(', '),
        });
      }
      const [name] = found.find(([name, , ready]) => ready === 'true' && name !== former) ?? [];
      if (name !== undefined) return name;
      throw new Failure('retry', 'the ingress pod does not run', {
        expected: `on ${node}`,
        found: await kubectl(cluster, [...pods, '-o', 'wide'], signal),
      });
    },
    PLACED_MS,
    signal,
  );
}

export async function deleteIngressPod(
  cluster: RunningCluster,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  await kubectl(cluster, ['delete', 'pod', name, '--wait=false'], signal);
}
