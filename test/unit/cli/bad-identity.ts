import type { Case } from './install-config-file.ts';

/** Kind of file, the cluster and its machine pools. */
export const identity: readonly Case[] = [
  {
    name: 'empty file',
    yaml: '',
    faults: [
      '1:1 apiVersion: expected v1, found nothing. Write apiVersion: v1.',
      '1:1 baseDomain: expected a DNS domain in lower case, at most 167 characters, found nothing. Write the parent domain of the cluster, such as example.com.',
      '1:1 metadata: expected a mapping, found nothing. Write metadata with the name of the cluster.',
      '1:1 compute: expected a list of one pool, worker, with its replicas, found nothing. Write compute: [{name: worker, replicas: 0}]; the default would be three workers.',
      '1:1 controlPlane: expected the pool master with replicas 1, found nothing. Write controlPlane: {name: master, replicas: 1}; the default would be three nodes.',
      '1:1 platform: expected {none: {}}, found nothing. Write platform: {none: {}}.',
      '1:1 pullSecret: expected JSON with auths that has an auth, base64 of user:password, or credsStore for each registry, found nothing. Copy the pull secret as one line in single quotes; if no registry needs one, copy the one in docs/reference/install-config.md.',
      '1:1 bootstrapInPlace.installationDisk: expected the path of a disk below /dev, found nothing. Set the disk to install to, here or in OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS. An all-in-one host has none: "sno create aio-ignition", "sno verify install-config --aio".',
    ],
  },
  {
    name: 'a list',
    yaml: '- a\n',
    faults: [
      '1:1 (file): expected the contents of install-config.yaml, found a list. Write install-config.yaml as docs/reference/install-config.md describes it.',
    ],
  },
  {
    name: 'broken YAML',
    edits: [['  name: sno\n', '  name: "sno\n']],
    faults: [
      "4:9 YAML: expected a text that its quote closes, found a double quote that is open here, until line 4. Close it at the end of the text. A quote of the same kind within it is doubled ('') or has a backslash (\\\").",
    ],
  },
  {
    name: 'a blank instead of a colon',
    edits: [['baseDomain: example.com', 'baseDomain example.com']],
    faults: [
      '2:11 baseDomain: expected a colon after the key, found none. Write "baseDomain: " and then the value.',
    ],
  },
  {
    name: 'as in an environment file',
    edits: [['baseDomain: example.com', 'baseDomain = example.com']],
    faults: [
      '2:11 baseDomain: expected a colon after the key, found none. Write "baseDomain: " and then the value.',
    ],
  },
  {
    name: 'a text that is not indented below its key',
    edits: [['baseDomain: example.com', 'baseDomain: |\nssh-ed25519 AAAA me']],
    faults: ['3 YAML'],
  },
  {
    name: 'JSON in double quotes',
    edits: [[`'{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'`, '"{"auths":{}}"']],
    faults: [
      "26:13 pullSecret: expected JSON in single quotes, found JSON in double quotes, which end at the first one of its own. Replace the outer quotes by '.",
    ],
  },
  {
    name: 'tabs',
    edits: [['  name: sno\n', '	name: sno\n']],
    faults: [
      '4:1 YAML: expected blanks before the first letter of a line, found a tab. Write blanks instead, in every line: YAML does not know how wide a tab is.',
    ],
  },
  {
    name: 'blanks of a web page',
    edits: [['  name: sno\n', '\u00a0\u00a0name: sno\n']],
    faults: [
      '4:1 YAML: expected the blanks of a keyboard around the name of a field, found U+00A0, which looks like one. Type them again, in every line: word processors and web pages have others.',
    ],
  },
  {
    name: 'two documents',
    edits: [['platform:', '---\nplatform:']],
    faults: [
      '20:1 YAML: expected one document, found 2. Keep one and remove the lines that are only ---.',
    ],
  },
  {
    name: 'duplicate key',
    edits: [['  name: sno\n', '  name: sno\n  name: two\n']],
    faults: ['5:3 YAML: expected each key once, found this key again. Remove one of the two.'],
  },
  {
    name: 'duplicate key and another fault',
    edits: [
      ['  name: sno\n', '  name: sno\n  name: two\n'],
      ['apiVersion: v1', 'apiVersion: v2'],
    ],
    faults: [
      '1:13 apiVersion: expected v1, found "v2". Write apiVersion: v1.',
      '5:3 YAML: expected each key once, found this key again. Remove one of the two.',
    ],
  },
  {
    name: 'unknown tag',
    edits: [['name: sno', 'name: !secret sno']],
    faults: [
      '4:9 YAML: expected valid YAML, found a syntax error (Unresolved tag: !secret). Check indentation and quotes from here upwards.',
    ],
  },
  {
    name: 'alias of nothing',
    edits: [['name: sno', 'name: *sno']],
    faults: [
      '4:9 YAML: expected an alias of an anchor above, found no anchor for *sno. Define the anchor before its first use, and not around it.',
    ],
  },
  {
    name: 'apiVersion',
    edits: [['apiVersion: v1', 'apiVersion: v1beta4']],
    faults: ['1:13 apiVersion: expected v1, found "v1beta4". Write apiVersion: v1.'],
  },
  {
    name: 'apiVersion left out',
    edits: [['apiVersion: v1\n', '']],
    faults: ['1:1 apiVersion: expected v1, found nothing. Write apiVersion: v1.'],
  },
  {
    name: 'base domain in capitals',
    edits: [['example.com\n', 'Example.com\n']],
    faults: [
      '2:13 baseDomain: expected a DNS domain in lower case, at most 167 characters, found "Example.com". Write the parent domain of the cluster, such as example.com.',
    ],
  },
  {
    name: 'base domain with two final dots',
    edits: [['example.com\n', 'example.com..\n']],
    faults: [
      '2:13 baseDomain: expected a DNS domain in lower case, at most 167 characters, found "example.com..". Write the parent domain of the cluster, such as example.com.',
    ],
  },
  {
    name: 'base domain mistyped',
    edits: [['baseDomain', 'baseDomian']],
    faults: [
      '1:1 baseDomain: expected a DNS domain in lower case, at most 167 characters, found nothing. Write the parent domain of the cluster, such as example.com.',
      '2:1 baseDomian: expected a known field, found a string of 11 characters. Did you mean baseDomain?',
    ],
  },
  {
    name: 'base domain too long for the names before it',
    edits: [['example.com\n', `${'a.'.repeat(83)}com\n`]],
    faults: [
      `2:13 baseDomain: expected a DNS domain in lower case, at most 167 characters, found "${'a.'.repeat(83).slice(0, 57)}...". Write the parent domain of the cluster, such as example.com.`,
    ],
  },
  {
    name: 'no cluster name',
    edits: [['  name: sno\n', '  lables: {}\n']],
    faults: [
      '3:1 metadata.name: expected a DNS label: a-z, 0-9 and -, at most 54 characters, found nothing. Write the name of the cluster, such as sno.',
      '4:3 metadata.lables: expected a known field, found an empty mapping. Did you mean labels?',
    ],
  },
  {
    name: 'cluster name with a dot',
    edits: [['name: sno', 'name: sno.a']],
    faults: [
      '4:9 metadata.name: expected a DNS label: a-z, 0-9 and -, at most 54 characters, found "sno.a". Write the name of the cluster, such as sno.',
    ],
  },
  {
    name: 'cluster name of 55 characters',
    edits: [['name: sno', `name: ${'a'.repeat(55)}`]],
    faults: [
      `4:9 metadata.name: expected a DNS label: a-z, 0-9 and -, at most 54 characters, found "${'a'.repeat(55)}". Write the name of the cluster, such as sno.`,
    ],
  },
  {
    name: 'cluster name that YAML reads as a number',
    edits: [['name: sno', 'name: 123']],
    faults: [
      '4:9 metadata.name: expected a DNS label: a-z, 0-9 and -, at most 54 characters, found 123. Write it in quotes: "123".',
    ],
  },
  {
    name: 'cluster name without a value',
    edits: [['name: sno', 'name:']],
    faults: [
      '4:3 metadata.name: expected a DNS label: a-z, 0-9 and -, at most 54 characters, found nothing. Write the name of the cluster, such as sno.',
    ],
  },
  {
    name: 'compute left out',
    edits: [['compute:\n- name: worker\n  replicas: 0\n', '']],
    faults: [
      '1:1 compute: expected a list of one pool, worker, with its replicas, found nothing. Write compute: [{name: worker, replicas: 0}]; the default would be three workers.',
    ],
  },
  {
    name: 'compute empty',
    edits: [['compute:\n- name: worker\n  replicas: 0\n', 'compute: []\n']],
    faults: [
      '5:10 compute: expected a list of one pool, worker, with its replicas, found an empty list. Write compute: [{name: worker, replicas: 0}]; the default would be three workers.',
    ],
  },
  {
    name: 'compute replicas left out',
    edits: [['- name: worker\n  replicas: 0', '- name: worker']],
    faults: [
      '6:3 compute[0].replicas: expected a whole number from 0 to 100, found nothing. Write the number of workers that are installed with the cluster, such as 0; the default would be three.',
    ],
  },
  {
    name: 'fewer workers than none',
    edits: [['replicas: 0', 'replicas: -1']],
    faults: [
      '7:13 compute[0].replicas: expected a whole number from 0 to 100, found -1. Write the number of workers that are installed with the cluster, such as 0; the default would be three.',
    ],
  },
  {
    name: 'more workers than one control-plane host serves',
    edits: [['replicas: 0', 'replicas: 101']],
    faults: [
      '7:13 compute[0].replicas: expected a whole number from 0 to 100, found 101. Write the number of workers that are installed with the cluster, such as 0; the default would be three.',
    ],
  },
  {
    name: 'half a worker',
    edits: [['replicas: 0', 'replicas: 0.5']],
    faults: [
      '7:13 compute[0].replicas: expected a whole number from 0 to 100, found 0.5. Write the number of workers that are installed with the cluster, such as 0; the default would be three.',
    ],
  },
  {
    name: 'compute pool of another name',
    edits: [['name: worker', 'name: edge']],
    faults: ['6:9 compute[0].name: expected worker, found "edge". Keep only the pool worker.'],
  },
  {
    name: 'a second compute pool',
    edits: [['  replicas: 0\n', '  replicas: 0\n- name: edge\n  replicas: 0\n']],
    faults: [
      '6:1 compute: expected a list of one pool, worker, with its replicas, found a list. Write compute: [{name: worker, replicas: 0}]; the default would be three workers.',
      '8:9 compute[1].name: expected worker, found "edge". Keep only the pool worker.',
    ],
  },
  {
    name: 'control plane left out',
    edits: [['controlPlane:\n  name: master\n  replicas: 1\n', '']],
    faults: [
      '1:1 controlPlane: expected the pool master with replicas 1, found nothing. Write controlPlane: {name: master, replicas: 1}; the default would be three nodes.',
    ],
  },
  {
    name: 'control-plane replicas left out',
    edits: [['  replicas: 1\n', '']],
    faults: [
      '8:1 controlPlane.replicas: expected 1, found nothing. Set replicas to 1: this installs one node; the default would be three.',
    ],
  },
  {
    name: 'control-plane replicas 3',
    edits: [['replicas: 1', 'replicas: 3']],
    faults: [
      '10:13 controlPlane.replicas: expected 1, found 3. Set replicas to 1: this installs one node; the default would be three.',
    ],
  },
  {
    name: 'control-plane replicas in quotes',
    edits: [['replicas: 1', 'replicas: "1"']],
    faults: [
      '10:13 controlPlane.replicas: expected 1, found the text "1". Set replicas to 1: this installs one node; the default would be three.',
    ],
  },
  ...(
    [
      ['cluster.local', /a domain outside of cluster\.local, that of Services/],
      ['shop.cluster.local.', /a domain outside of cluster\.local/],
      ['192.168.7.1', /expected a DNS domain, found "192\.168\.7\.1", an address/],
      ['example.7', /found "example\.7", which ends in a number/],
    ] as const
  ).map(
    ([domain, says]): Case => ({
      name: `the base domain ${domain}`,
      edits: [['baseDomain: example.com', `baseDomain: ${domain}`]],
      faults: ['2 baseDomain'],
      says,
    }),
  ),
  {
    name: 'a name that makes the domain of Services',
    edits: [
      ['baseDomain: example.com', 'baseDomain: local'],
      ['  name: sno\n', '  name: cluster\n'],
    ],
    faults: ['2 baseDomain'],
    says: /a domain outside of cluster\.local, that of Services, found cluster\.local/,
  },
  ...['api', 'api-int', 'apps', 'console.apps'].map(
    (label): Case => ({
      name: `the host name ${label} of the cluster`,
      edits: [['hostname: sno1.example.com', `hostname: ${label}.sno.example.com`]],
      faults: ['24 bootstrapInPlace.hostname'],
      says: /a name that is not one of the cluster itself.*node\.sno\.example\.com/,
    }),
  ),
  {
    name: 'a host name among the Services',
    edits: [['hostname: sno1.example.com', 'hostname: sno1.cluster.local']],
    faults: ['24 bootstrapInPlace.hostname'],
  },
  {
    name: 'an address as the host name',
    edits: [['hostname: sno1.example.com', 'hostname: 192.168.7.10']],
    faults: ['24 bootstrapInPlace.hostname'],
  },
];
