import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { schemaFaults } from '../../base/errors/schema-faults.ts';
import { readGoYaml } from '../../base/go-yaml/read.ts';
import type { PodRole, StaticPod } from '../renderer.ts';

interface Known {
  readonly component: string;
  readonly role: PodRole;
}

/** The order is that in which they start. */
const KNOWN: Readonly<Record<string, Known>> = {
  'etcd-member-pod.yaml': { component: 'etcd', role: 'database' },
  'machineconfigoperator-bootstrap-pod.yaml': {
    component: 'machine-config-server',
    role: 'ignition-server',
  },
  'kube-apiserver-pod.yaml': { component: 'kube-apiserver', role: 'api-server' },
  'kube-controller-manager-pod.yaml': { component: 'kube-controller-manager', role: 'leader' },
  'kube-scheduler-pod.yaml': { component: 'kube-scheduler', role: 'leader' },
};

/**
 * Names under which the operators write the pods of a component, so that each replaces its
 * bootstrap pod. With the name that etcd's operator renders, two etcd pods would run.
 */
const OPERATORS_NAME: Readonly<Record<string, string>> = {
  'etcd-member-pod.yaml': 'etcd-pod.yaml',
};

const podSchema = z.object({
  kind: z.literal('Pod'),
  spec: z.object({ containers: z.array(z.object({ name: z.string() })).min(1) }),
});

/**
 * The pods of all manifests, by file name. Those that are not known (the version operator, the
 * cloud credentials, a platform's load balancer) serve the bootstrap only.
 * @throws Failure (fatal) if a manifest is not a pod
 */
export function staticPodsOf(manifests: ReadonlyMap<string, string>): StaticPod[] {
  const order = [...Object.keys(KNOWN), ...[...manifests.keys()].toSorted()];
  return [...new Set(order)].flatMap((file) => {
    const manifest = manifests.get(file);
    return manifest === undefined ? [] : [staticPod(file, manifest)];
  });
}

function staticPod(file: string, manifest: string): StaticPod {
  const parsed = podSchema.safeParse(readGoYaml(manifest));
  if (!parsed.success) {
    throw new Failure('fatal', `the rendered static pod ${file} cannot be used`, {
      code: 'render-failed',
      subject: file,
      found: schemaFaults(parsed.error),
    });
  }
  const names = parsed.data.spec.containers.map(({ name }) => name);
  const known = KNOWN[file];
  const container = names.find((name) => name === known?.component) ?? names[0] ?? '';
  return {
    component: known?.component ?? container,
    role: known?.role ?? 'bootstrap',
    file: OPERATORS_NAME[file] ?? file,
    container,
    manifest,
  };
}
