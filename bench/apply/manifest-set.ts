import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';

/** The number of operators, each with the manifests of `operatorManifests`. */
const OPERATORS = 10;

interface ManifestFile {
  readonly name: string;
  readonly object: object;
}

/** Names of the CustomResourceDefinitions that a set creates. */
export function definitionNames(set: string): string[] {
  return operators().flatMap((operator) =>
    ['widgets', 'gadgets'].map((plural) => `${plural}.${groupOf(set, operator)}`),
  );
}

/**
 * 500 manifests like those of a bootstrap: ten operators, each with a namespace, two
 * definitions and the objects that depend on them. File names sort them like a release
 * payload, by run level and number, so that dependencies come first. `set` gives each set
 * on the same server its own namespaces and groups.
 */
export function manifestSet(set: string): ManifestFile[] {
  return operators().flatMap((operator) => operatorManifests(set, operator));
}

export async function writeManifestSet(set: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { name, object } of manifestSet(set)) {
    await writeFile(join(folder, name), writeGoYaml(object));
  }
}

const operators = () => Array.from({ length: OPERATORS }, (_, at) => at);
const groupOf = (set: string, operator: number) => `operator-${operator}.${set}.example.com`;

function operatorManifests(set: string, operator: number): ManifestFile[] {
  const namespace = `${set}-operator-${operator}`;
  const group = groupOf(set, operator);
  const named = (kind: string, name: string, more: object, apiVersion = 'v1') => ({
    apiVersion,
    kind,
    metadata: { name, namespace },
    ...more,
  });
  const rbac = 'rbac.authorization.k8s.io/v1';
  const clusterWide = (kind: string, at: number, more: object) => ({
    apiVersion: rbac,
    kind,
    metadata: { name: `${namespace}-${at}` },
    ...more,
  });
  const rules = [{ apiGroups: [''], resources: ['pods', 'configmaps'], verbs: ['get', 'list'] }];
  const roleRef = (kind: string, name: string) => ({
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
    subjects: [{ kind: 'ServiceAccount', name: 'account-0', namespace }],
  });
  const parts: readonly (readonly [count: number, make: (at: number) => object])[] = [
    [1, () => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })],
    [1, () => definition(group, 'widgets', 'Widget')],
    [1, () => definition(group, 'gadgets', 'Gadget')],
    [3, (at) => named('ServiceAccount', `account-${at}`, {})],
    [2, (at) => clusterWide('ClusterRole', at, { rules })],
    [
      2,
      (at) => clusterWide('ClusterRoleBinding', at, roleRef('ClusterRole', `${namespace}-${at}`)),
    ],
    [2, (at) => named('Role', `role-${at}`, { rules }, rbac)],
    [2, (at) => named('RoleBinding', `role-${at}`, roleRef('Role', `role-${at}`), rbac)],
    [10, (at) => named('ConfigMap', `config-${at}`, { data: { 'config.yaml': text(1500) } })],
    [6, (at) => named('Secret', `secret-${at}`, { stringData: { token: text(600) } })],
    [4, (at) => named('Service', `service-${at}`, service(at))],
    [6, (at) => named('Deployment', `deployment-${at}`, deployment(at), 'apps/v1')],
    [2, (at) => named('PodDisruptionBudget', `budget-${at}`, budget(at), 'policy/v1')],
    [4, (at) => named('Widget', `widget-${at}`, custom(at), `${group}/v1`)],
    [4, (at) => named('Gadget', `gadget-${at}`, custom(at), `${group}/v1`)],
  ];
  const objects = parts.flatMap(([count, make]) =>
    Array.from({ length: count }, (_, at) => make(at)),
  );
  return objects.map((object, at) => ({
    name: `0000_${50 + operator}_operator-${operator}_${String(at).padStart(2, '0')}.yaml`,
    object,
  }));
}

/** A definition without a schema, of one namespaced kind in version v1. */
export function definition(group: string, plural: string, kind: string): object {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind }, versions: [version] },
  };
}

const text = (length: number) => 'key: value\n'.repeat(Math.ceil(length / 11));
const labels = (at: number) => ({ app: `app-${at}` });
const custom = (at: number) => ({ spec: { replicas: at, config: text(800) } });
const service = (at: number) => ({
  spec: { selector: labels(at), ports: [{ name: 'https', port: 8443 }] },
});
const budget = (at: number) => ({
  spec: { minAvailable: 1, selector: { matchLabels: labels(at) } },
});

function deployment(at: number): object {
  const container = {
    name: 'operator',
    image: `registry.example.com/operator-${at}@sha256:${'0'.repeat(64)}`,
    args: ['start', '--config=/etc/operator/config.yaml', '-v=2'],
    resources: { requests: { cpu: '10m', memory: '50Mi' } },
  };
  return {
    spec: {
      replicas: 1,
      selector: { matchLabels: labels(at) },
      template: {
        metadata: { labels: labels(at) },
        spec: { serviceAccountName: 'account-0', containers: [container] },
      },
    },
  };
}
