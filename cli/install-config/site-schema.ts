import { z } from 'zod';
import { isAddress } from '../../lib/base/network/address.ts';
import { METADATA_FROM_PODS, ON_ADDRESS_CHANGE } from '../../lib/config/cluster/cluster.ts';
import { field, list, optional, text, textOf, word } from '../../lib/config/file/message.ts';
import {
  mirrorList,
  ntpSources,
  proxyField,
  sourcePolicy,
  trustBundle,
  withoutNulls,
} from '../../lib/config/file/site-fields.ts';
import {
  isPartitionIndex,
  isPartitionLabel,
  KERNEL_ARGUMENT,
  kernelArgumentProblem,
} from '../../lib/config/site/boot-arguments.ts';
import { DNS_NAME } from '../../lib/config/site/names.ts';
import { CPU_SET, parseCpuSet } from '../../lib/host/cpu-set.ts';
import { SEAL_MODES } from '../../lib/secrets/seal/mode.ts';

/** Fields of `bootstrapInPlace` that determine how the host starts. */
export const bootFields = {
  networkConfig: optional(
    field(z.record(z.string(), z.unknown()), {
      expected: 'an nmstate document (a mapping)',
      fix: 'Write interfaces, routes and dns-resolver below it, without | and quotes.',
      isSecret: true,
    }).transform(withoutNulls),
  ),
  additionalNTPSources: ntpSources,
  reservedCPUs: optional(
    field(
      z.union([z.number(), z.string()]).refine((list) => parseCpuSet(`${list}`) !== undefined),
      {
        expected: 'a list of CPU numbers and ranges, such as 0-1 or "0,4"',
        fix: 'Write the CPUs for the node itself, as in lscpu; the others remain for workloads.',
        json: { minimum: 0, pattern: CPU_SET.source },
      },
    ),
  ),
  sealSecrets: optional(
    field(z.enum(['none', ...SEAL_MODES]), {
      expected: 'none, host or tpm2',
      fix: 'Omit the field for none; write host or tpm2 to seal the keys of the host.',
    }),
  ),
  onAddressChange: optional(
    field(z.enum(ON_ADDRESS_CHANGE), {
      expected: ON_ADDRESS_CHANGE.join(' or '),
      fix: 'Omit the field for stop; write follow to have an installed host take over another address by itself.',
    }),
  ),
  metadataFromPods: optional(
    field(z.enum(METADATA_FROM_PODS), {
      expected: METADATA_FROM_PODS.join(' or '),
      fix: 'Omit the field for block; write allow if a workload needs the metadata service of the cloud.',
    }),
  ),
  apiNames: optional(
    list(
      textOf((name) => isAddress(name) || (DNS_NAME.test(name) && name.length <= 253), {
        expected: 'a host name or an address, without a port',
        fix: 'Write it as api.shop.example.com or 203.0.113.7.',
        json: { pattern: '^[0-9a-z][0-9a-z.-]*$|^[0-9A-Fa-f:.]+$', maxLength: 253 },
      }),
      {
        expected: 'a list of at most 16 host names or addresses',
        fix: 'Write it as [203.0.113.7].',
      },
      { most: 16 },
    ),
  ),
  relocatable: optional(
    field(z.boolean(), {
      expected: 'true or false',
      fix: 'Write true for a node that is installed here and set up at another site.',
    }),
  ),
  kernelArguments: optional(
    list(text(kernelArgumentProblem, '', { json: { pattern: KERNEL_ARGUMENT.source } }), {
      expected: 'a list of kernel arguments',
      fix: 'Write it as ["console=ttyS0,115200n8"].',
    }),
  ),
  savePartitions: optional(
    field(
      z.strictObject({
        labels: optional(
          list(
            textOf(isPartitionLabel, {
              expected: 'a label of at most 36 characters without commas; * and ? are wildcards',
              fix: 'Write each label as a separate entry.',
              json: { pattern: '^[^,]{1,36}$' },
            }),
            { expected: 'a list of partition labels', fix: 'Write it as ["data*"].' },
          ),
        ),
        indexes: optional(
          list(
            field(z.union([z.number(), z.string()]).refine(isPartitionIndex), {
              expected: 'a number from 1, or a range such as "5-7", "5-" or "-7"',
              fix: 'Write it as in the partition table.',
              json: { minimum: 1, pattern: '^[0-9]{0,3}-?[0-9]{0,3}$' },
            }),
            { expected: 'a list of partition numbers', fix: 'Write it as ["5-"].' },
          ),
        ),
      }),
      {
        expected: 'a mapping with labels or indexes',
        fix: 'Write it as {labels: ["data*"]} or {indexes: ["5-"]}.',
      },
    ),
  ),
};

/** Top-level fields that determine how hosts reach the outside and whom they trust. */
export const siteFields = {
  proxy: proxyField,
  additionalTrustBundle: trustBundle,
  additionalTrustBundlePolicy: word(
    ['Proxyonly', 'Always'],
    'Omit it: the host trusts the bundle with both.',
  ),
  imageContentSources: mirrorList({}),
  imageDigestSources: mirrorList({
    sourcePolicy,
  }),
};
