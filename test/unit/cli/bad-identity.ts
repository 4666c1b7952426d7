import type { Case, Edit } from './install-config-file.ts';

const NO_COMPUTE: Edit = ['compute:\n- name: worker\n  replicas: 0\n', ''];

/** What the file is, the cluster and its machine pools. */
export const identity: readonly Case[] = [
  {
    name: 'empty file',
    yaml: '',
    faults: [...Array(7).keys()]
      .map(
        (i) =>
          `1 ${['apiVersion', 'baseDomain', 'metadata', 'compute', 'controlPlane', 'platform', 'pullSecret'][i]}`,
      )
      .concat('1 bootstrapInPlace.installationDisk'),
  },
  { name: 'a list', yaml: '- a\n', faults: ['1 (file)', '1 bootstrapInPlace.installationDisk'] },
  { name: 'broken YAML', edits: [['  name: sno\n', '  name: "sno\n']], faults: ['4 YAML'] },
  { name: 'tabs', edits: [['  name: sno\n', '\tname: sno\n']], faults: ['4 YAML'] },
  { name: 'two documents', edits: [['platform:', '---\nplatform:']], faults: ['20 YAML'] },
  {
    name: 'duplicate key',
    edits: [['  name: sno\n', '  name: sno\n  name: two\n']],
    faults: ['5 YAML'],
    says: /each key once/,
  },
  {
    name: 'duplicate key and another fault',
    edits: [
      ['  name: sno\n', '  name: sno\n  name: two\n'],
      ['apiVersion: v1', 'apiVersion: v2'],
    ],
    faults: ['1 apiVersion', '5 YAML'],
  },
  { name: 'unknown tag', edits: [['name: sno', 'name: !secret sno']], faults: ['4 YAML'] },
  { name: 'alias of nothing', edits: [['name: sno', 'name: *sno']], faults: ['4 YAML'] },
  {
    name: 'apiVersion',
    edits: [['apiVersion: v1', 'apiVersion: v1beta4']],
    faults: ['1 apiVersion'],
    says: /expected v1, found "v1beta4"/,
  },
  {
    name: 'apiVersion left out',
    edits: [['apiVersion: v1\n', '']],
    faults: ['1 apiVersion'],
    says: /found nothing/,
  },
  {
    name: 'base domain in capitals',
    edits: [['example.com\n', 'Example.com\n']],
    faults: ['2 baseDomain'],
  },
  {
    name: 'base domain with a final stop',
    edits: [['example.com\n', 'example.com.\n']],
    faults: ['2 baseDomain'],
  },
  {
    name: 'base domain mistyped',
    edits: [['baseDomain', 'baseDomian']],
    faults: ['1 baseDomain', '2 baseDomian'],
    says: /Did you mean baseDomain\?/,
  },
  {
    name: 'no cluster name',
    edits: [['  name: sno\n', '  labels: {}\n']],
    faults: ['3 metadata.name', '4 metadata.labels'],
  },
  {
    name: 'cluster name with a dot',
    edits: [['name: sno', 'name: sno.a']],
    faults: ['4 metadata.name'],
  },
  {
    name: 'cluster name that YAML reads as a number',
    edits: [['name: sno', 'name: 123']],
    faults: ['4 metadata.name'],
    says: /found 123/,
  },
  {
    name: 'cluster name without a value',
    edits: [['name: sno', 'name:']],
    faults: ['4 metadata.name'],
    says: /found nothing/,
  },
  { name: 'compute left out', edits: [NO_COMPUTE], faults: ['1 compute'], says: /replicas: 0/ },
  {
    name: 'compute empty',
    edits: [['compute:\n- name: worker\n  replicas: 0\n', 'compute: []\n']],
    faults: ['5 compute'],
  },
  {
    name: 'compute replicas left out',
    edits: [['- name: worker\n  replicas: 0', '- name: worker']],
    faults: ['6 compute[0].replicas'],
    says: /Set replicas to 0/,
  },
  {
    name: 'compute replicas 3',
    edits: [['replicas: 0', 'replicas: 3']],
    faults: ['7 compute[0].replicas'],
    says: /expected 0, found 3/,
  },
  {
    name: 'compute pool of another name',
    edits: [['name: worker', 'name: edge']],
    faults: ['6 compute[0].name'],
  },
  {
    name: 'a second compute pool',
    edits: [['  replicas: 0\n', '  replicas: 0\n- name: edge\n  replicas: 0\n']],
    faults: ['6 compute', '8 compute[1].name'],
  },
  {
    name: 'control plane left out',
    edits: [['controlPlane:\n  name: master\n  replicas: 1\n', '']],
    faults: ['1 controlPlane'],
    says: /replicas: 1/,
  },
  {
    name: 'control-plane replicas left out',
    edits: [['  replicas: 1\n', '']],
    faults: ['8 controlPlane.replicas'],
    says: /Set replicas to 1/,
  },
  {
    name: 'control-plane replicas 3',
    edits: [['replicas: 1', 'replicas: 3']],
    faults: ['10 controlPlane.replicas'],
    says: /expected 1, found 3/,
  },
  {
    name: 'control-plane replicas in quotes',
    edits: [['replicas: 1', 'replicas: "1"']],
    faults: ['10 controlPlane.replicas'],
    says: /found the text "1"/,
  },
];
