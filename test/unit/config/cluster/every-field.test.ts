/** Each field of cluster.json changes what is rendered from it, or what a step does, whose test is named. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { installerArguments } from '../../../../agents/install-to-disk/write-disk.ts';
import { markerOf } from '../../../../lib/cluster/installation/marker.ts';
import { clusterSchema, type InstallableCluster } from '../../../../lib/config/cluster/cluster.ts';
import { kubernetesRenderer } from '../../../../lib/render/kubernetes/index.ts';
import { machineConfig } from '../../../../lib/render/machine-config/machine-config.ts';
import { SITE_CA } from '../../cli/certificates.ts';
import { host, input } from '../../render/rendered-host.ts';

const { cluster } = input;
const mirror = {
  source: 'quay.io',
  mirrors: ['m.test'],
  digestOnly: true,
  neverContactSource: false,
};
const proxy = { httpProxy: 'http://a.test:1', httpsProxy: 'http://a.test:1', noProxy: ['a.test'] };

const mirrored = (more: Partial<typeof mirror>) => ({ imageMirrors: [{ ...mirror, ...more }] });
const installed = (more: Partial<InstallableCluster['installation']>) => ({
  installation: { ...cluster.installation, ...more },
});

type Changes = Partial<InstallableCluster>;

/** What is rendered differs between these. */
const RENDERED: Readonly<Record<string, readonly [Changes, Changes]>> = {
  clusterId: [{}, { clusterId: '6f0c8f0e-3b1b-4b44-9f0d-0123456789ac' }],
  name: [{}, { name: 'other' }],
  baseDomain: [{}, { baseDomain: 'other.test' }],
  'machineNetwork[]': [{}, { machineNetwork: ['192.0.2.0/25'] }],
  'clusterNetwork[].cidr': [{}, { clusterNetwork: [{ cidr: '10.132.0.0/14', hostPrefix: 23 }] }],
  'clusterNetwork[].hostPrefix': [
    {},
    { clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 24 }] },
  ],
  'serviceNetwork[]': [{}, { serviceNetwork: ['172.29.0.0/16'] }],
  'installation.coreosInstallerArgs[]': [{}, installed({ coreosInstallerArgs: ['--insecure'] })],
  'installation.kernelArguments[]': [{}, installed({ kernelArguments: ['quiet'] })],
  'installation.savePartitions.labels[]': [
    {},
    installed({ savePartitions: { labels: ['data'], indexes: [] } }),
  ],
  'installation.savePartitions.indexes[]': [
    {},
    installed({ savePartitions: { labels: [], indexes: ['5'] } }),
  ],
  'proxy.httpProxy': [{ proxy }, { proxy: { ...proxy, httpProxy: 'http://b.test:1' } }],
  'proxy.httpsProxy': [{ proxy }, { proxy: { ...proxy, httpsProxy: 'http://b.test:1' } }],
  'proxy.noProxy[]': [{ proxy }, { proxy: { ...proxy, noProxy: ['b.test'] } }],
  additionalTrustBundle: [{}, { additionalTrustBundle: SITE_CA }],
  'imageMirrors[].source': [mirrored({}), mirrored({ source: 'quay.test' })],
  'imageMirrors[].mirrors[]': [mirrored({}), mirrored({ mirrors: ['n.test'] })],
  'imageMirrors[].digestOnly': [mirrored({}), mirrored({ digestOnly: false })],
  'imageMirrors[].neverContactSource': [mirrored({}), mirrored({ neverContactSource: true })],
  networkConfig: [{}, { networkConfig: 'interfaces: []\n' }],
  'additionalNtpSources[]': [
    { additionalNtpSources: ['a.test'] },
    { additionalNtpSources: ['b.test'] },
  ],
  reservedCpus: [{ reservedCpus: '0-1' }, { reservedCpus: '0-2' }],
  metadataFromPods: [{ metadataFromPods: 'allow' }, { metadataFromPods: 'block' }],
  relocatable: [{}, { relocatable: true }],
  apiCertificateName: [{}, { apiCertificateName: 'api.edge.example.test' }],
};

/** What a step does with it: the file of the test, and a part of its name. */
const DONE: Readonly<Record<string, readonly [file: string, name: string]>> = {
  hostname: ['test/integration/agents/bootkube/preflight.ts', 'the host name is final and valid'],
  'preflightWarnings[]': [
    'test/integration/agents/bootkube/preflight.ts',
    'a failure of each check can be made a warning',
  ],
  payloadSha256: ['test/integration/agents/bootkube/payload.ts', 'must be the one pinned'],
  payloadUrl: ['test/integration/agents/bootkube/payload.ts', 'is downloaded once'],
  'sshKeys[]': ['test/unit/agents/bootkube/handover.test.ts', 'without keys there is no user'],
  machineConfigServerUrl: [
    'test/unit/agents/bootkube/handover.test.ts',
    'is fetched from the machine config server of the cluster',
  ],
  'apiNames[]': ['test/unit/render/certificates.test.ts', 'further names and addresses are in'],
  inPlace: ['test/integration/agents/bootkube/preflight.ts', 'in place, that disk is where'],
  onAddressChange: ['test/unit/agents/upkeep/address.test.ts', 'follow: the change is requested'],
  dayOneWorkers: ['test/unit/agents/aiokube/node-role.test.ts', 'with workers of the installation'],
  sealSecrets: ['test/unit/agents/bootkube/sealed.test.ts', 'only where they are sealed'],
  'installation.disk': [
    'test/integration/installation/inspect.test.ts',
    'the disk is inspected without being changed',
  ],
  'installation.existingSystem': [
    'test/unit/cluster/installation/installation.test.ts',
    'which disk may be written',
  ],
  executableSha256: ['test/integration/agents/install-to-disk/copy-payload.ts', 'executableSha256'],
  'openshift.unknownReleaseAccepted': [
    'test/unit/agents/bootkube/openshift.test.ts',
    'payload: an unknown newer release',
  ],
  'openshift.installedByOthers': [
    'test/unit/agents/relocatable/openshift-bring.test.ts',
    'prepared, described and taken back',
  ],
  controlPlane: [
    'test/integration/agents/install-to-disk/copy-payload.ts',
    "controlPlane: 'openshift'",
  ],
};

/** The description of a release, by which OpenShift's own programs render; and the version of the file. */
const OTHER = [
  'apiVersion',
  ...['releaseImage', 'version', 'clusterId', 'infrastructureName', 'platform'].map(
    (name) => `openshift.${name}`,
  ),
];

/** Keys, certificates, and the digest of those that a program reads once. */
const RANDOM = /-----BEGIN [\s\S]*?-----END [A-Z ]+-----|[A-Za-z0-9+/=]{40,}|read-once: [0-9a-f]+/g;

/** Without what is random: keys, certificates and times. */
async function rendered(changes: Changes) {
  const changed = { ...cluster, ...changes };
  const images = { ...host.images, 'kube-proxy': 'example.test/kube-proxy:1' };
  const made = await kubernetesRenderer.render({
    ...input,
    cluster: changed,
    host: { ...host, images },
  });
  const { at: _, ...marker } = markerOf(changed, 'finished');
  return {
    controlPlane: JSON.stringify(made).replaceAll(RANDOM, '').split('\\n'),
    host: (['live', 'installed', 'aio'] as const).map((kind) => machineConfig(changed, kind)),
    marker,
    installer: installerArguments(changed.installation),
  };
}

t.test('no field of cluster.json is missing here', async (t) => {
  const leaves = leavesOf(z.toJSONSchema(clusterSchema, { io: 'input' }), '');
  t.same([...Object.keys(RENDERED), ...Object.keys(DONE), ...OTHER].toSorted(), leaves.toSorted());
});

function leavesOf(schema: z.core.JSONSchema.JSONSchema, path: string): string[] {
  const { properties, items } = schema;
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([name, below]) =>
      typeof below === 'boolean' ? [] : leavesOf(below, path === '' ? name : `${path}.${name}`),
    );
  }
  if (items === undefined || typeof items === 'boolean' || Array.isArray(items)) return [path];
  return leavesOf(items, `${path}[]`);
}

const unchanged = await rendered({});

for (const [field, [one, other]] of Object.entries(RENDERED)) {
  t.test(`${field} of cluster.json changes what is rendered`, async (t) => {
    const before = Object.keys(one).length === 0 ? unchanged : await rendered(one);
    t.notSame(await rendered(other), before);
  });
}

t.test('the same from the same', async (t) => {
  t.same(await rendered({}), unchanged);
});

for (const [field, [file, name]] of Object.entries(DONE)) {
  t.test(`${field} of cluster.json is tried by a step`, async (t) => {
    const text = readFileSync(join(import.meta.dirname, '../../../..', file), 'utf8');
    t.ok(
      text.split('\n').some((line) => line.includes(name)),
      `${file} "${name}"`,
    );
  });
}
