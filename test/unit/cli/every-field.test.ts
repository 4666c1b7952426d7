/** Each field of install-config.yaml changes what the laptop makes of it: cluster.json, or what is checked. */
import t from 'tap';
import { fieldsOf } from '../../../cli/explain/config-fields.ts';
import { installConfigJsonSchema } from '../../../cli/explain/config-schemas.ts';
import { readInstallSettings } from '../../../cli/install-config/settings.ts';
import { createAuthority } from '../../../lab/certificates/signed-now.ts';
import { sshPublicKey } from '../../../lab/site-inputs.ts';
import { SITE_CA } from './certificates.ts';
import { type Edit, edited, top } from './install-config-file.ts';

const other = await createAuthority('other', 1000);

type Edits = readonly Edit[];

const MASTER = 'name: master';
const workersOn = (architecture: string): Edit => [
  '- name: worker',
  `- name: worker\n  architecture: ${architecture}`,
];
const host = (text: string): Edit => ['bootstrapInPlace:', `bootstrapInPlace:\n  ${text}`];
const bundle = (text: string) => `additionalTrustBundle: ${JSON.stringify(text)}`;
const mirrors = (field: string, source: string, mirror: string, more = ''): Edits => [
  top(`${field}: [{source: ${source}, mirrors: [${mirror}]${more}}]`),
];
const nmstate = (name: string) =>
  host(`networkConfig: {interfaces: [{name: ${name}, type: ethernet, state: up}]}`);

/** Of each field that has no fields of its own: edits of the good file that differ in it alone. */
const FIELDS: Readonly<Record<string, readonly [Edits, Edits]>> = {
  baseDomain: [[], [['baseDomain: example.com', 'baseDomain: example.org']]],
  'metadata.name': [[], [['name: sno', 'name: edge']]],
  'compute[].replicas': [[], [['replicas: 0', 'replicas: 2']]],
  'controlPlane.architecture': [
    [],
    [[MASTER, `${MASTER}\n  architecture: arm64`], workersOn('arm64')],
  ],
  'networking.networkType': [[], [['OVNKubernetes', 'Calico']]],
  'networking.machineNetwork[].cidr': [[], [['192.168.7.0/24', '192.168.8.0/24']]],
  'networking.clusterNetwork[].cidr': [[], [['10.128.0.0/14', '10.132.0.0/14']]],
  'networking.clusterNetwork[].hostPrefix': [[], [['hostPrefix: 23', 'hostPrefix: 24']]],
  'networking.serviceNetwork[]': [[], [['172.30.0.0/16', '172.29.0.0/16']]],
  'bootstrapInPlace.installationDisk': [[], [['wwn-0x1', 'wwn-0x2']]],
  'bootstrapInPlace.hostname': [[], [['sno1.example.com', 'sno2.example.com']]],
  'bootstrapInPlace.existingSystem': [[], [['overwrite', 'refuse']]],
  'bootstrapInPlace.preflightWarnings[]': [[], [host('preflightWarnings: [clock]')]],
  'bootstrapInPlace.networkConfig': [[nmstate('eno1')], [nmstate('eno2')]],
  'bootstrapInPlace.additionalNTPSources[]': [
    [host('additionalNTPSources: [a.test]')],
    [host('additionalNTPSources: [b.test]')],
  ],
  'bootstrapInPlace.reservedCPUs': [[host('reservedCPUs: 0-1')], [host('reservedCPUs: 0-2')]],
  'bootstrapInPlace.sealSecrets': [[], [host('sealSecrets: host')]],
  'bootstrapInPlace.onAddressChange': [[], [host('onAddressChange: follow')]],
  'bootstrapInPlace.metadataFromPods': [[], [host('metadataFromPods: allow')]],
  'bootstrapInPlace.apiNames[]': [
    [host('apiNames: [203.0.113.7]')],
    [host('apiNames: [api.shop.example.org]')],
  ],
  'bootstrapInPlace.relocatable': [[], [host('relocatable: true')]],
  'bootstrapInPlace.kernelArguments[]': [
    [host('kernelArguments: [quiet]')],
    [host('kernelArguments: [nosmt]')],
  ],
  'bootstrapInPlace.savePartitions.labels[]': [
    [host('savePartitions: {labels: [a]}')],
    [host('savePartitions: {labels: [b]}')],
  ],
  'bootstrapInPlace.savePartitions.indexes[]': [
    [host('savePartitions: {indexes: [5]}')],
    [host('savePartitions: {indexes: [6]}')],
  ],
  'proxy.httpProxy': [
    [top('proxy: {httpProxy: "http://a:1"}')],
    [top('proxy: {httpProxy: "http://b:1"}')],
  ],
  'proxy.httpsProxy': [
    [top('proxy: {httpsProxy: "http://a:1"}')],
    [top('proxy: {httpsProxy: "http://b:1"}')],
  ],
  'proxy.noProxy': [
    [top('proxy: {httpProxy: "http://a:1", noProxy: a.test}')],
    [top('proxy: {httpProxy: "http://a:1", noProxy: b.test}')],
  ],
  additionalTrustBundle: [[top(bundle(SITE_CA))], [top(bundle(other.certificate))]],
  additionalTrustBundlePolicy: [
    [top(bundle(SITE_CA))],
    [top(`${bundle(SITE_CA)}\nadditionalTrustBundlePolicy: Always`)],
  ],
  'imageContentSources[].source': [
    mirrors('imageContentSources', 'quay.io/a', 'm.test'),
    mirrors('imageContentSources', 'quay.io/b', 'm.test'),
  ],
  'imageContentSources[].mirrors[]': [
    mirrors('imageContentSources', 'quay.io', 'm.test'),
    mirrors('imageContentSources', 'quay.io', 'n.test'),
  ],
  'imageDigestSources[].source': [
    mirrors('imageDigestSources', 'quay.io/a', 'm.test'),
    mirrors('imageDigestSources', 'quay.io/b', 'm.test'),
  ],
  'imageDigestSources[].mirrors[]': [
    mirrors('imageDigestSources', 'quay.io', 'm.test'),
    mirrors('imageDigestSources', 'quay.io', 'n.test'),
  ],
  'imageDigestSources[].sourcePolicy': [
    mirrors('imageDigestSources', 'quay.io', 'm.test'),
    mirrors('imageDigestSources', 'quay.io', 'm.test', ', sourcePolicy: NeverContactSource'),
  ],
  pullSecret: [[], [['"quay.io"', '"quay.test"']]],
  sshKey: [[], [[/ssh-ed25519 .*/.exec(edited([]))?.[0] ?? '', sshPublicKey()]]],
};

/** There is one value only. */
const FIXED = [
  ...['apiVersion', 'kind', 'fips', 'publish', 'cpuPartitioningMode', 'platform.none'],
  ...['compute[].name', 'compute[].hyperthreading', 'compute[].platform'],
  ...['controlPlane.name', 'controlPlane.replicas', 'controlPlane.hyperthreading'],
  'bootstrapInPlace.target',
  'controlPlane.platform',
];
/** Kubernetes' own, which the installer ignores too. */
const IGNORED = ['metadata.labels', 'metadata.annotations', 'metadata.creationTimestamp'];
/** Anything but that of the control plane is refused. */
const REFUSED = ['compute[].architecture'];

t.test('no field of install-config.yaml is missing here', async (t) => {
  const all = fieldsOf(installConfigJsonSchema(), '').map(({ path }) => path);
  const leaves = all.filter(
    (path) => !all.some((each) => each.startsWith(`${path}.`) || each.startsWith(`${path}[`)),
  );
  t.same([...Object.keys(FIELDS), ...FIXED, ...IGNORED, ...REFUSED].toSorted(), leaves.toSorted());
});

const settings = (edits: Edits) => readInstallSettings(edited(edits), undefined);

for (const [field, [one, other]] of Object.entries(FIELDS)) {
  t.test(`${field} of install-config.yaml changes what is made of it`, async (t) => {
    const before = settings(one);
    t.match(before, { ok: true });
    t.match(settings(other), { ok: true });
    t.notSame(settings(other), before);
  });
}

t.test('another architecture of the workers is refused', async (t) => {
  t.match(settings([workersOn('arm64')]), {
    ok: false,
    faults: [{ field: 'compute[0].architecture' }],
  });
});
