import { z } from 'zod';
import { PREFLIGHT_CHECKS } from '../../lib/config/cluster/cluster.ts';
import { field, list, optional, text, textOf, word } from '../../lib/config/file/message.ts';
import {
  baseDomain,
  clusterName,
  hostnameOf,
  mapping,
  networkField,
  pullSecret,
  sshKey,
} from '../../lib/config/file/site-fields.ts';
import { DISK_PATH, diskPathProblem } from '../../lib/config/site/disk.ts';
import { architectures } from '../../lib/host/architecture.ts';
import { bootFields, siteFields } from './site-schema.ts';

/** A field with a single valid value. */
const only = <Value extends string | number | boolean>(value: Value, fix: string) =>
  field(z.literal(value), { expected: `${value}`, fix });

/** Kubernetes ignores them, and so does the installer. */
const tags = (name: string) =>
  optional(
    field(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable()), {
      expected: 'a mapping of strings',
      fix: `Write ${name}: {key: value}, or omit it.`,
    }),
  );

const metadata = {
  name: clusterName,
  labels: tags('labels'),
  annotations: tags('annotations'),
  creationTimestamp: optional(
    field(z.string(), { expected: 'a time as a string', fix: 'Omit the field.' }),
  ),
};

/** Fields of the installer's machine pool, apart from name and replicas. */
const pool = {
  architecture: word(architectures, 'Write one of the two, or omit the field for amd64.'),
  hyperthreading: word(['Enabled'], 'Omit the field: nothing else is supported.'),
  platform: optional(mapping({}, 'Omit the field: nothing else is supported.', '{}')),
};

/** More than one control-plane host serves. */
const MOST_WORKERS = 100;

const compute = list(
  mapping(
    {
      name: only('worker', 'Keep only the pool worker.'),
      replicas: field(z.number().int().min(0).max(MOST_WORKERS), {
        expected: `a whole number from 0 to ${MOST_WORKERS}`,
        fix: 'Write the number of workers that are installed with the cluster, such as 0; the default would be three.',
      }),
      ...pool,
    },
    'Write {name: worker, replicas: 0}.',
  ),
  {
    expected: 'a list of one pool, worker, with its replicas',
    fix: 'Write compute: [{name: worker, replicas: 0}]; the default would be three workers.',
  },
  { least: 1, most: 1 },
);

const controlPlane = mapping(
  {
    name: only('master', 'Write name: master.'),
    replicas: only(1, 'Set replicas to 1: this installs one node; the default would be three.'),
    ...pool,
  },
  'Write controlPlane: {name: master, replicas: 1}; the default would be three nodes.',
  'the pool master with replicas 1',
);

/** More than any cluster has; all pairs are compared. */
const networks = { most: 64 };

const networking = {
  networkType: optional(
    textOf((name) => name === '' || /^[A-Za-z][A-Za-z0-9.-]{0,62}$/.test(name), {
      expected: 'a name such as OVNKubernetes',
      fix: 'Omit the field, or name one.',
    }),
  ),
  machineNetwork: optional(
    list(
      mapping({ cidr: networkField }, 'Write {cidr: 10.0.0.0/16}.'),
      {
        expected: 'a list with cidr in each entry',
        fix: "Write the node's network as [{cidr: 10.0.0.0/16}].",
      },
      networks,
    ),
  ),
  clusterNetwork: optional(
    list(
      mapping(
        {
          cidr: networkField,
          hostPrefix: optional(
            field(z.number().int().min(1).max(126), {
              expected: 'an integer from 1 to 30, or to 126 for IPv6',
              fix: "Write the prefix length of a node's share, such as 23, or 64 for IPv6.",
            }),
          ),
        },
        'Write {cidr: 10.128.0.0/14, hostPrefix: 23}.',
      ),
      {
        expected: 'a list with cidr and hostPrefix in each entry, at most one for each family',
        fix: 'Write it as [{cidr: 10.128.0.0/14, hostPrefix: 23}].',
      },
      networks,
    ),
  ),
  serviceNetwork: optional(
    list(
      networkField,
      {
        expected: 'a list of one network, or of one for each family',
        fix: 'Write it as [172.30.0.0/16] or [fd02::/112].',
      },
      networks,
    ),
  ),
};

/** `networkConfig` and `additionalNTPSources` are named as in the installer's agent-config. */
const bootstrapInPlace = {
  installationDisk: optional(text(diskPathProblem, '', { json: { pattern: DISK_PATH.source } })),
  target: word(
    ['self'],
    'Omit the field to name a disk; write self to install the disk that boots.',
  ),
  hostname: hostnameOf("to use the live host's"),
  existingSystem: optional(
    field(z.enum(['refuse', 'overwrite']), {
      expected: 'refuse or overwrite',
      fix: 'Write overwrite only if another system on the disk can be destroyed.',
    }),
  ),
  preflightWarnings: optional(
    list(
      field(z.enum(PREFLIGHT_CHECKS), {
        expected: `one of ${PREFLIGHT_CHECKS.join(', ')}`,
        fix: 'Use the name of a check whose failure should only be a warning.',
      }),
      { expected: 'a list of names of checks', fix: 'Write it as [dns-apps], or omit it.' },
    ),
  ),
  ...bootFields,
};

/**
 * install-config.yaml as in the OpenShift installer (openshift/installer, pkg/types),
 * as far as one node without a platform needs it, with the message of each field.
 * Fields of `bootstrapInPlace` other than `installationDisk` are extensions.
 */
export const installConfigSchema = mapping(
  {
    apiVersion: only('v1', 'Write apiVersion: v1.'),
    kind: optional(only('InstallConfig', 'Omit the field.')),
    baseDomain,
    metadata: mapping(metadata, 'Write metadata with the name of the cluster.'),
    compute,
    controlPlane,
    networking: optional(
      mapping(networking, 'Omit networking for its defaults, or write a mapping.'),
    ),
    platform: mapping(
      { none: mapping({}, 'Write platform: {none: {}}.', '{}') },
      'Write platform: {none: {}}.',
      '{none: {}}',
    ),
    bootstrapInPlace: optional(
      mapping(bootstrapInPlace, 'Write bootstrapInPlace with installationDisk.'),
    ),
    ...siteFields,
    pullSecret,
    sshKey,
    fips: optional(
      only(
        false,
        "Omit the field: the cryptography of the container runtime, of the payload's Go programs and of the agents is not FIPS-validated, so FIPS mode would not be effective.",
      ),
    ),
    publish: word(['External'], 'Omit the field: it has no effect without a platform.'),
    cpuPartitioningMode: word(['None'], 'Omit the field: CPU partitioning is not supported yet.'),
  },
  'Start with the example in the documentation.',
);

export type InstallConfig = z.infer<typeof installConfigSchema>;

/** Some of its fields. */
export const someInstallFieldsSchema = installConfigSchema.partial();
export type SomeInstallFields = z.infer<typeof someInstallFieldsSchema>;
