import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { parse } from 'yaml';
import { MINIMAL_INSTALL_CONFIG } from '../../../docs/install-config-reference.ts';
import { accepted } from '../cli/accepted.ts';
import { acceptedNetworks, networks } from '../cli/bad-families.ts';
import { type Edit, edited, GOOD, top } from '../cli/install-config-file.ts';
import { read } from './documents.ts';

/** A validator that shares no code with the generator of the schema. */
const schema: Record<string, unknown> = JSON.parse(
  read('docs/reference/schemas/install-config.schema.json'),
);
const validate = new Ajv2020({ allErrors: true, strictTypes: false }).compile(schema);

const wrong = (text: string) => {
  validate(parse(text, { merge: true, version: '1.1', schema: 'core' }));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
};

t.test('it is a valid schema of the draft that it names', async (t) => {
  t.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
  t.equal(typeof schema.title, 'string');
});

t.test('the documented example and every good file are valid', async (t) => {
  t.same(wrong(MINIMAL_INSTALL_CONFIG), []);
  t.same(wrong(GOOD), []);
  for (const { name, edits } of accepted) {
    // Editors read YAML 1.2, in which these words are strings.
    if (/^fips: (no|off|n)$/i.test(name)) continue;
    t.same(wrong(edited(edits)), [], name);
  }
  for (const { name, given } of acceptedNetworks)
    t.same(wrong(edited([networks(given)])), [], name);
});

t.test("the operator's example of a site is valid", async (t) => {
  const example = /```yaml\n(proxy:[\s\S]*?)```/.exec(read('docs/operator.md'))?.[1] ?? '';
  const minimal = MINIMAL_INSTALL_CONFIG.replace(/bootstrapInPlace:\n {2}.*\n/, '');
  t.same(wrong(`${minimal}${example}`), []);
});

const below = (text: string): Edit => ['existingSystem: overwrite', text];

const BAD: readonly [name: string, edit: Edit, path: string][] = [
  ['apiVersion', ['apiVersion: v1', 'apiVersion: v2'], '/apiVersion'],
  ['an unknown field', top('colour: red'), ' must NOT have additional properties'],
  ['a field mistyped', ['hostname:', 'hostnam:'], '/bootstrapInPlace'],
  ['no metadata', ['metadata:\n  name: sno\n', ''], " must have required property 'metadata'"],
  ['a name of 55 characters', ['name: sno', `name: ${'a'.repeat(55)}`], '/metadata/name'],
  ['a name in capitals', ['name: sno', 'name: SNO'], '/metadata/name'],
  ['a name that is a number', ['name: sno', 'name: 1'], '/metadata/name'],
  ['a domain in capitals', ['example.com\n', 'Example.com\n'], '/baseDomain'],
  ['three nodes', ['replicas: 1', 'replicas: 3'], '/controlPlane/replicas'],
  ['too many workers', ['replicas: 0', 'replicas: 101'], '/compute/0/replicas'],
  ['no workers', ['compute:\n- name: worker\n  replicas: 0\n', 'compute: []\n'], '/compute'],
  [
    'an architecture',
    ['replicas: 1', 'replicas: 1\n  architecture: s390x'],
    '/controlPlane/architecture',
  ],
  ['a network', ['192.168.7.0/24', '192.168.7.0'], '/networking/machineNetwork/0/cidr'],
  [
    'a host prefix',
    ['hostPrefix: 23', 'hostPrefix: 127'],
    '/networking/clusterNetwork/0/hostPrefix',
  ],
  ['another platform', ['none: {}', 'aws: {}'], '/platform'],
  ['a disk', ['/dev/disk/by-id/wwn-0x1', 'sda'], '/bootstrapInPlace/installationDisk'],
  [
    'existingSystem',
    ['existingSystem: overwrite', 'existingSystem: "no"'],
    '/bootstrapInPlace/existingSystem',
  ],
  ['a check', below('preflightWarnings: [dsn-api]'), '/bootstrapInPlace/preflightWarnings/0'],
  ['a network as text', below('networkConfig: "a: b"'), '/bootstrapInPlace/networkConfig'],
  ['a kernel argument', below('kernelArguments: [a b]'), '/bootstrapInPlace/kernelArguments/0'],
  [
    'a partition',
    below('savePartitions: {indexes: [0]}'),
    '/bootstrapInPlace/savePartitions/indexes/0',
  ],
  [
    'a label',
    below('savePartitions: {labels: ["a,b"]}'),
    '/bootstrapInPlace/savePartitions/labels/0',
  ],
  [
    'a source of time',
    below('additionalNTPSources: ["a b"]'),
    '/bootstrapInPlace/additionalNTPSources/0',
  ],
  ['a proxy without URL', top('proxy: {noProxy: a}'), '/proxy'],
  ['a proxy of SOCKS', top('proxy: {httpProxy: "socks5://p"}'), '/proxy/httpProxy'],
  ['a wildcard', top('proxy: {httpProxy: "http://p", noProxy: "*.a"}'), '/proxy/noProxy'],
  ['a policy', top('additionalTrustBundlePolicy: Never'), '/additionalTrustBundlePolicy'],
  [
    'a source without mirrors',
    top('imageDigestSources: [{source: quay.io/a}]'),
    '/imageDigestSources/0',
  ],
  [
    'no mirrors',
    top('imageDigestSources: [{source: quay.io/a, mirrors: []}]'),
    '/imageDigestSources/0/mirrors',
  ],
  [
    'a pull secret as mapping',
    [`'{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'`, '{"auths":{}}'],
    '/pullSecret',
  ],
  ['fips', top('fips: true'), '/fips'],
  ['publish', top('publish: Internal'), '/publish'],
];
for (const [name, edit, path] of BAD) {
  t.test(`not valid: ${name}`, async (t) => {
    const found = wrong(edited([edit]));
    t.ok(
      found.some((error) => error.startsWith(path)),
      `${path} in ${JSON.stringify(found)}`,
    );
  });
}
