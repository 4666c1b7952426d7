/**
 * What "reconfigure validate" has the cluster do, in this order, with the payload's own images and without any network, and
 * the conformance test of Kubernetes that asks for the same, in more cases. Undefined: none does.
 */
export const PROBES = {
  workload: '[sig-apps] Deployment should run the lifecycle of a Deployment',
  'config-map': '[sig-storage] ConfigMap should be consumable from pods in volume',
  logs: '[sig-node] Pods should support retrieving logs from the container over websockets',
  service: '[sig-network] Services should serve a basic endpoint from pods',
  'node-port': '[sig-network] Services should be able to create a functioning NodePort service',
  dns: '[sig-network] DNS should provide DNS for services',
  volume: undefined,
  namespace:
    '[sig-api-machinery] Namespaces should ensure that all pods are removed when a namespace is deleted',
} as const satisfies Readonly<Record<string, string | undefined>>;

export type ProbeName = keyof typeof PROBES;

/** How one of them ended. */
export type ProbeResult = { readonly name: ProbeName } & (
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'failed'; readonly why: string }
  /** What it needs is not there, or has failed itself. */
  | { readonly outcome: 'not-tried'; readonly why: string }
);

/** For people. */
export function probeText(result: ProbeResult): string {
  const { name, outcome } = result;
  if (outcome === 'failed') return `${name}: ${result.why}`;
  if (outcome === 'not-tried') return `${name}: not tried, ${result.why}`;
  const test = PROBES[name];
  return test === undefined ? `${name}: passed` : `${name}: passed, a part of ${test}`;
}
