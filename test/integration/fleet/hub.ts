/** A hub for the worker: a real API server, the controller that signs certificates, and the kinds that it needs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Test } from 'tap';
import { hubKinds } from '../../../cli/fleet/worker/kinds.ts';
import { kubernetesBinary } from '../../../lab/servers/binaries.ts';
import { startControlPlane } from '../../../lab/servers/control-plane.ts';
import { startDaemon } from '../../../lab/servers/daemon.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import {
  type KubeObject,
  objectSchema,
  type Resource,
  resourcePath,
  resources,
} from '../../../lib/clients/kube/resources.ts';
import type { ShippedHostFacts } from '../../../lib/config/site-config/host-facts.ts';
import { API_VERSION, FLEET } from '../../../lib/engine/report/site-status.ts';
import { type Run, sno } from '../../unit/cli/run-sno.ts';
import { ageKeys, facts } from '../../unit/relocation/site-volume/volumes.ts';

export const NAMESPACE = 'shops';
const LIFETIME_MS = 400_000;
const { signal } = new AbortController();
export const limits = { signal, deadlineMs: 20_000 };

export const TEMPLATE = `api_version: 1
cluster_name: \${name}
base_domain: example.com
hosts: ["\${machine}"]
`;

const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const conditions = {
  type: 'array',
  items: free,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
};

function definition(group: string, version: string, plural: string, kind: string) {
  const typed = { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] };
  const items = { ...typed, 'x-kubernetes-preserve-unknown-fields': true };
  const status = { ...free, properties: { conditions: { ...conditions, items } } };
  const properties = { spec: free, status };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } },
          subresources: { status: {} },
        },
      ],
    },
  };
}

/** What the worker needs, and nothing else. */
const RIGHTS = [
  [FLEET.group, 'sites', 'get list watch'],
  [FLEET.group, 'sites/status', 'patch'],
  ['', 'configmaps', 'get'],
  ['', 'secrets', 'get create update patch'],
  ['coordination.k8s.io', 'leases', 'get create update delete'],
  ['metal3.io', 'baremetalhosts', 'get patch'],
  ['metal3.io', 'dataimages', 'create patch delete'],
] as const;
const CERTIFICATE_RIGHTS = [
  ['certificates.k8s.io', 'certificatesigningrequests', 'get list watch create delete'],
  ['certificates.k8s.io', 'certificatesigningrequests/approval', 'update'],
  ['certificates.k8s.io', 'signers', 'approve'],
] as const;
const WORKER = 'worker';

const rules = (rights: readonly (readonly [string, string, string])[]) =>
  rights.map(([group, resource, verbs]) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: verbs.split(' '),
    ...(resource === 'signers' ? { resourceNames: ['kubernetes.io/kube-apiserver-client'] } : {}),
  }));

async function grant(client: KubeClient): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const subjects = [{ kind: 'User', name: WORKER, apiGroup: 'rbac.authorization.k8s.io' }];
  for (const [scope, rights, place] of [
    ['', RIGHTS, { namespace: NAMESPACE }],
    ['Cluster', CERTIFICATE_RIGHTS, {}],
  ] as const) {
    const name = WORKER;
    const plural = `${scope.toLowerCase()}roles`;
    const bound = { apiGroup: 'rbac.authorization.k8s.io', kind: `${scope}Role`, name };
    const made: [string, object][] = [
      [plural, { rules: rules(rights) }],
      [plural.replace('roles', 'rolebindings'), { roleRef: bound, subjects }],
    ];
    for (const [kind, body] of made) {
      const resource = { apiVersion, plural: kind, schema: objectSchema };
      await client.create(resource, place, { metadata: { name }, ...body }, limits);
    }
  }
}

const namespaces: Resource = { apiVersion: 'v1', plural: 'namespaces', schema: objectSchema };

export type TestHub = Awaited<ReturnType<typeof startHub>>;

export async function startHub(t: Test) {
  const root = t.testdir({ published: {} });
  const plane = await startControlPlane(join(root, 'hub'), signal, { lifetimeMs: LIFETIME_MS });
  t.teardown(() => plane.stop());
  const kubeconfigOf = async (name: string, ...groups: string[]) => {
    const path = join(root, `${name}.kubeconfig`);
    writeFileSync(path, await plane.kubeconfig({ name, groups }), { mode: 0o600 });
    return path;
  };
  const kubeconfig = await kubeconfigOf(WORKER);
  const administrator = await kubeconfigOf('administrator', 'system:masters');
  const controllers = await startSigner(root, administrator, plane.authority);
  t.teardown(() => controllers.stop());
  const client = await plane.client();
  t.teardown(() => client[Symbol.dispose]());
  await client.create(namespaces, {}, { metadata: { name: NAMESPACE } }, limits);
  await grant(client);
  for (const [group, version, plural, kind] of [
    [FLEET.group, FLEET.version, FLEET.plural, 'Site'],
    ['metal3.io', 'v1alpha1', 'baremetalhosts', 'BareMetalHost'],
    ['metal3.io', 'v1alpha1', 'dataimages', 'DataImage'],
  ] as const) {
    await client.create(
      resources.customResourceDefinitions,
      {},
      definition(group, version, plural, kind),
      limits,
    );
  }
  await served(() => client.list(hubKinds.dataImages, { namespace: NAMESPACE }, limits));
  const node = await ageKeys();
  const key = join(root, 'sign');
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  writeFileSync(join(root, 'identity.txt'), node.identity, { mode: 0o600 });
  const create = (resource: Resource, body: object) =>
    client.create(resource, { namespace: NAMESPACE }, body, limits);
  const hub = {
    plane,
    client,
    root,
    kubeconfig,
    published: join(root, 'published'),
    identity: join(root, 'identity.txt'),
    signer: `${key}.pub`,
    create,
    /** The options of every run. */
    options: (phase: string, published = join(root, 'published')) => [
      ...['--kubeconfig', kubeconfig, '--namespace', NAMESPACE, '--phase', phase],
      ...['--publish', published, '--publish-url', 'http://hub.example/sites/', '--sign', key],
    ],
    run: (phase: string, ...args: string[]): Promise<Run> =>
      sno(['fleet', 'site', ...hub.options(phase), ...args], { PATH: process.env.PATH ?? '' }),
    find: <T extends KubeObject>(resource: Resource<T>, name: string) =>
      client.find(resource, { namespace: NAMESPACE, name }, limits),
    site: async (name: string) =>
      client.get(hubKinds.sites, { namespace: NAMESPACE, name }, limits),
    condition: async (name: string, type: string) =>
      (await hub.site(name)).status?.conditions?.find((each) => each.type === type),
    template: (name: string, text = TEMPLATE, more: Record<string, string> = {}) =>
      create(resources.configMaps, {
        metadata: { name },
        data: { 'site-config.yaml': text, ...more },
      }),
    /** The facts of a machine of its own. */
    machine: (name: string, different: Partial<ShippedHostFacts> = {}) => {
      const own = { ...facts, identifiers: [name], recipient: node.recipient, ...different };
      const data = { 'host-facts.json': JSON.stringify(own) };
      return create(resources.configMaps, { metadata: { name: `facts-${name}` }, data });
    },
    newSite: (name: string, machine: string, spec: object = {}) =>
      create(hubKinds.sites, {
        apiVersion: API_VERSION,
        kind: 'Site',
        metadata: { name, namespace: NAMESPACE, labels: { wave: '1' } },
        spec: {
          action: 'relocate',
          serial: 1,
          templateRef: { name: 'shop' },
          values: { name, machine },
          hostFactsRef: { name: `facts-${machine}` },
          delivery: { by: 'person' },
          ...spec,
        },
      }),
    /** What a node says of itself, as it does. */
    async report(name: string, change: object, conditions: object[] = []) {
      const at = new Date().toISOString();
      const said = { change: 'relocate', serial: 1, at, ...change };
      const status = {
        report: { sequence: 1, at, node: name, version: '1', changes: [said] },
        conditions,
      };
      await hub.apply(name, { status }, 'sno-node', 'status');
    },
    async apply(name: string, body: object, manager: string, subresource?: string) {
      const path = resourcePath(hubKinds.sites, { namespace: NAMESPACE, name, subresource });
      await client.json(
        {
          method: 'PATCH',
          path: `${path}?fieldManager=${manager}&force=true`,
          contentType: 'application/apply-patch+yaml',
          body: { apiVersion: API_VERSION, kind: 'Site', metadata: { name }, ...body },
        },
        limits,
      );
    },
  };
  await hub.template('shop');
  return hub;
}

/** The real kube-controller-manager, with the one controller that signs certificates. */
async function startSigner(
  root: string,
  kubeconfig: string,
  { certificate, key }: { certificate: string; key: string },
) {
  const program = await kubernetesBinary('kube-controller-manager', signal);
  const folder = join(root, 'signer');
  mkdirSync(folder);
  writeFileSync(join(folder, 'ca.crt'), certificate);
  writeFileSync(join(folder, 'ca.key'), key, { mode: 0o600 });
  const args = [
    ...['--kubeconfig', kubeconfig, '--leader-elect=false', '--secure-port=0'],
    '--controllers=certificatesigningrequest-signing-controller',
    ...['--cluster-signing-cert-file', join(folder, 'ca.crt')],
    ...['--cluster-signing-key-file', join(folder, 'ca.key')],
  ];
  return startDaemon(program, args, join(folder, 'log'), LIFETIME_MS);
}

async function served(look: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await look();
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
