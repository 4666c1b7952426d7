import { join } from 'node:path';
import t from 'tap';
import { sno } from '../run-sno.ts';
import { installerIgnition } from './installer-ignition.ts';

const explain = (...args: string[]) => sno(['explain', 'topology', ...args]);

/** Options that are refused, and the complete lines about them. */
const OPTIONS: readonly [args: readonly string[], ...lines: string[]][] = [
  ...['-1', '1.5', ' 1', '5001', '1e3', '99999999999999999999', 'x'].map(
    (value): [string[], string] => [
      [`--compute=${value}`],
      `--compute: expected an integer from 0 to 5000, found ${JSON.stringify(value)}. Write the number of nodes.`,
    ],
  ),
  [
    ['--compute', '0', '--later-workers', 'many'],
    '--later-workers: expected an integer from 0 to 5000, found "many". Write the number of nodes.',
  ],
  [
    ['--platform', 'vsphere'],
    '--platform: expected one of none, aws, azure, external, gcp, ibmcloud, powervs, found "vsphere". Use one of them: openshift-install refuses one control-plane node on the others.',
  ],
  [
    ['--platform', 'azur'],
    '--platform: expected one of none, aws, azure, external, gcp, ibmcloud, powervs, found "azur". Did you mean azure?',
  ],
  ...['4.13', '5', 'latest'].map((value): [string[], string] => [
    ['--compute', '0', `--release=${value}`],
    `--release: expected a release of OpenShift from 4.14 on, such as 5.0, found ${JSON.stringify(value)}. Write it as MAJOR.MINOR.`,
  ]),
  [
    ['--config', 'a', '--compute', '1', '--platform', 'none'],
    'options: expected one source, found --config, --compute. Leave out the others.',
  ],
  [
    ['--config', 'a', '--from-ignition', 'b'],
    'options: expected one source, found --config, --from-ignition. Leave out the others.',
  ],
  [
    ['--compute', '0', '--kind', 'kubernetes', '--release', '4.19'],
    '--kind: expected openshift with --release, found kubernetes. Leave out --kind or --release.',
  ],
  [
    ['--compute', '0', '--kind', 'kubernetes', '--manifests'],
    '--kind: expected openshift with --manifests, found kubernetes. Leave out --kind or --manifests.',
  ],
  [
    ['--from-ignition', 'a', '--kind', 'kubernetes'],
    '--kind: expected openshift with --from-ignition, found kubernetes. Leave out --kind or --from-ignition.',
  ],
  ...[
    ['--manifests'],
    ['--kind', 'openshift'],
    ['--release', '4.19'],
    ['--later-workers', '1'],
  ].map((args): [string[], string] => [
    args,
    `${args[0]}: expected a cluster that it is about, found none. Describe the cluster with --config, --from-ignition or --compute.`,
  ]),
  [
    ['--compute', 'x', '--platform', 'y', '--release', 'z'],
    '--compute: expected an integer from 0 to 5000, found "x". Write the number of nodes.',
    '--platform: expected one of none, aws, azure, external, gcp, ibmcloud, powervs, found "y". Use one of them: openshift-install refuses one control-plane node on the others.',
    '--release: expected a release of OpenShift from 4.14 on, such as 5.0, found "z". Write it as MAJOR.MINOR.',
  ],
];

for (const [args, ...lines] of OPTIONS) {
  t.test(args.join(' '), async (t) => {
    const { code, out, err } = await explain(...args);
    t.equal(code, 2);
    t.equal(out, '');
    const [head, ...faults] = err.split('\n');
    t.match(head, new RegExp(`^sno: ${lines.length} errors? in the options; nothing was written$`));
    t.same(faults, lines);
  });
}

/** An install-config.yaml and the lines about it. */
const CONFIGS: Readonly<Record<string, readonly [text: string, ...lines: string[]]>> = {
  'three control-plane nodes': [
    'controlPlane:\n  replicas: 3\ncompute: [{replicas: 0}]\nplatform: {none: {}}\n',
    'install-config.yaml:2:13 controlPlane.replicas: expected 1, found 3. Set it to 1: these topologies are those of one control-plane node.',
  ],
  'the default of three': [
    'compute: [{replicas: 0}]\nplatform: {none: {}}\n',
    'install-config.yaml:1:1 controlPlane.replicas: expected 1, found 3. Set it to 1: these topologies are those of one control-plane node.',
  ],
  'a number as text': [
    'controlPlane: {replicas: 1}\ncompute:\n- replicas: 0\n- replicas: "2"\nplatform: {none: {}}\n',
    'install-config.yaml:4:13 compute[1].replicas: expected an integer from 0 to 5000, found "2". Write the number of nodes.',
  ],
  'a negative number': [
    'controlPlane: {replicas: -1}\ncompute: [{replicas: 0}]\nplatform: {none: {}}\n',
    'install-config.yaml:1:26 controlPlane.replicas: expected an integer from 0 to 5000, found -1. Write the number of nodes.',
  ],
  'pools that are no list': [
    'controlPlane: {replicas: 1}\ncompute: {replicas: 0}\nplatform: {none: {}}\n',
    'install-config.yaml:2:10 compute: expected a list of pools, found a mapping. Write compute: [{name: worker, replicas: 0}].',
  ],
  'no platform': [
    'controlPlane: {replicas: 1}\ncompute: [{replicas: 0}]\n',
    'install-config.yaml:1:1 platform: expected one of none, aws, azure, external, gcp, ibmcloud, powervs, found nothing. Use one of them: openshift-install refuses one control-plane node on the others.',
  ],
  'another platform': [
    'controlPlane: {replicas: 1}\ncompute: [{replicas: 0}]\nplatform:\n  baremetal: {}\n',
    'install-config.yaml:4:3 platform: expected one of none, aws, azure, external, gcp, ibmcloud, powervs, found "baremetal". Use one of them: openshift-install refuses one control-plane node on the others.',
  ],
  'two platforms': [
    'controlPlane: {replicas: 1}\ncompute: [{replicas: 0}]\nplatform: {none: {}, aws: {}}\n',
    'install-config.yaml:3:11 platform: expected one of none, aws, azure, external, gcp, ibmcloud, powervs, found "none, aws". Use one of them: openshift-install refuses one control-plane node on the others.',
  ],
  'a syntax error': [
    'controlPlane: {replicas: 1\n',
    'install-config.yaml:2:1 YAML: expected valid YAML, found a syntax error (Flow map in block collection must be sufficiently indented and end with a }). Check indentation and quotes from here upwards.',
  ],
  'another file': [
    'api_version: 1\ncluster_name: shop\nbase_domain: example.com\n',
    'install-config.yaml:1:1 (file): expected the contents of install-config.yaml, found a site-config.yaml. Write install-config.yaml as docs/reference/install-config.md describes it.',
  ],
  'a key that is there twice': [
    'controlPlane: {replicas: 1}\ncontrolPlane: {replicas: 1}\ncompute: [{replicas: 0}]\nplatform: {none: {}}\n',
    'install-config.yaml:2:1 YAML: expected each key once, found this key again. Remove one of the two.',
  ],
};

for (const [name, [text, ...lines]] of Object.entries(CONFIGS)) {
  t.test(`--config with ${name}`, async (t) => {
    const path = join(t.testdir({ 'other.yaml': text }), 'other.yaml');
    const { code, out, err } = await explain('--config', path);
    t.equal(code, 2);
    t.equal(out, '');
    const [head, ...faults] = err.split('\n');
    t.match(head, /^sno: \d errors? in .*\/other\.yaml; nothing was written$/);
    t.same(
      faults,
      lines.map((line) => line.replace('install-config.yaml', path)),
    );

    const ignition = installerIgnition({
      'manifests/cluster-config.yaml': JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'cluster-config-v1', namespace: 'kube-system' },
        data: { 'install-config': text },
      }),
    });
    const other = join(t.testdir({ 'a.ign': ignition }), 'a.ign');
    const run = await explain('--from-ignition', other);
    t.equal(run.code, 2);
    t.match(run.err, /^sno: \d errors? in the install-config in .*\/a\.ign; nothing was written\n/);
    t.same(run.err.split('\n').slice(1), lines);
  });
}

t.test('files that cannot be read', async (t) => {
  const dir = t.testdir({ folder: {}, 'a.yaml': Buffer.from([0xff, 0x20]).toString('latin1') });
  for (const [args, message] of [
    [
      ['--config', join(dir, 'none')],
      /none does not exist.*Create it, or set another with --config\./,
    ],
    [
      ['--config', join(dir, 'folder')],
      /folder cannot be used.*found a folder\. Put the file itself there, or set another with --config\./,
    ],
    [['--from-ignition', join(dir, 'none')], /none cannot be read/],
    [['--from-ignition', join(dir, 'folder')], /folder is not a regular file/],
  ] as const) {
    const { code, err } = await explain(...args);
    t.equal(code, 2, args.join(' '));
    t.match(err, message);
  }
});

/** Configs that openshift-install did not write. */
const IGNITIONS: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
  'no JSON': ['x', /has 1 error:\n {2}\(file\) is not JSON/],
  'another version': [
    '{"ignition":{"version":"2.2.0"}}',
    /ignition\.version is not a spec version/,
  ],
  'no manifests': [
    '{"ignition":{"version":"3.2.0"}}',
    /is not a bootstrap Ignition config of openshift-install; .*cluster-config-v1.*create single-node-ignition-config/,
  ],
  'a manifest that is none': [
    installerIgnition({ 'openshift/a.yaml': 'kind: X\nkind: Y\n' }),
    /\/opt\/openshift\/openshift\/a\.yaml in .* cannot be decoded; found line 2: Map keys must be unique/,
  ],
  'a source elsewhere': [
    JSON.stringify({
      ignition: { version: '3.2.0' },
      storage: {
        files: [
          { path: '/opt/openshift/manifests/a.yaml', contents: { source: 'https://example.com/' } },
        ],
      },
    }),
    /\/opt\/openshift\/manifests\/a\.yaml in .* cannot be decoded: .*not a data URL/,
  ],
};

for (const [name, [text, message]] of Object.entries(IGNITIONS)) {
  t.test(`--from-ignition with ${name}`, async (t) => {
    const path = join(t.testdir({ 'a.ign': text }), 'a.ign');
    const { code, out, err } = await explain('--from-ignition', path);
    t.equal(code, 2);
    t.equal(out, '');
    t.match(err, message);
  });
}
