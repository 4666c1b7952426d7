/** A hub for the worker: a real API server, the controller that signs certificates, and the kinds that it needs. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Test } from 'tap';
import { deliver } from '../../../agents/upkeep/report/deliver.ts';
import { hubKinds } from '../../../cli/fleet/worker/kinds.ts';
import { kubernetesBinary } from '../../../lab/servers/binaries.ts';
import { startControlPlane } from '../../../lab/servers/control-plane.ts';
import { startDaemon } from '../../../lab/servers/daemon.ts';
import { applyManifests } from '../../../lib/clients/kube/apply.ts';
import { failureTable } from '../../../lib/clients/kube/apply-table.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import {
  type KubeObject,
  type Resource,
  resourcePath,
  resources,
} from '../../../lib/clients/kube/resources.ts';
import type { ShippedHostFacts } from '../../../lib/config/site-config/host-facts.ts';
import type { NodeReport, ReportedState } from '../../../lib/engine/report/node-report.ts';
import { parseReportTo } from '../../../lib/engine/report/read-report-to.ts';
import { API_VERSION } from '../../../lib/engine/report/site-status.ts';
import { siteStatusOf } from '../../../lib/engine/report/site-status-of.ts';
import { type Run, sno } from '../../unit/cli/run-sno.ts';
import { ageKeys, facts } from '../../unit/relocation/site-volume/volumes.ts';

export const NAMESPACE = 'sno-fleet';
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

/** The worker of the Jobs, as the API server knows it. */
const WORKER = `system:serviceaccount:${NAMESPACE}:sno-fleet`;
const DEPLOYED = ['crd', 'node-access', 'worker-access'];

/** The files of a hub as they are. */
async function deploy(client: KubeClient): Promise<void> {
  const folder = join(import.meta.dirname, '../../../deploy/fleet');
  const texts = DEPLOYED.map((name) => readFileSync(join(folder, `${name}.yaml`), 'utf8'));
  const { manifests } = decodeManifests('deploy', texts.join('\n---\n'));
  const options = { ...limits, concurrency: 8, report: () => {} };
  const failed = failureTable(await applyManifests(client, { manifests, faults: [] }, options));
  if (failed.length > 0) throw new Error(failed.join('\n'));
}

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
  const kubeconfig = await kubeconfigOf(WORKER, 'system:serviceaccounts');
  const administrator = await kubeconfigOf('administrator', 'system:masters');
  const controllers = await startSigner(root, administrator, plane.authority);
  t.teardown(() => controllers.stop());
  const client = await plane.client();
  t.teardown(() => client[Symbol.dispose]());
  await deploy(client);
  for (const [group, version, plural, kind] of [
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
  let sequence = 0;
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
    /** What a node says of itself, by its own code, with the key of its volume. */
    async report(name: string, change: Partial<ReportedState>) {
      const kept = await hub.find(hubKinds.secrets, `${name}-auth`);
      const text = Buffer.from(kept?.data?.['report-to.json'] ?? '', 'base64').toString();
      const at = new Date().toISOString();
      sequence += 1;
      const of = change.change === undefined ? ({ change: 'relocate', serial: 1 } as const) : {};
      const said = { change: 'relocate', state: 'running', at, ...of, ...change } as const;
      const report: NodeReport = {
        ...{ schemaVersion: 1, sequence, at, node: name, machine: [], version: '1' },
        changes: [said],
      };
      const status = siteStatusOf(report, []);
      const sent = await deliver(parseReportTo(text, name), report, status, {
        ...limits,
        work: join(root, `report-${sequence}`),
      });
      if (sent.kind !== 'accepted') throw new Error(JSON.stringify(sent));
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
