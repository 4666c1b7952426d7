import { z } from 'zod';
import { ON_ADDRESS_CHANGE, SEAL_MODES } from '../../lib/cluster/cluster.ts';
import { isRecord } from '../../lib/json.ts';
import {
  isPartitionIndex,
  isPartitionLabel,
  KERNEL_ARGUMENT,
  kernelArgumentProblem,
} from '../../lib/site/boot-arguments.ts';
import { CPU_SET, parseCpuSet } from '../../lib/site/cpu-set.ts';
import { repositoryProblem } from '../../lib/site/mirrors.ts';
import { isNtpSource } from '../../lib/site/names.ts';
import { noProxyProblem, proxyUrlProblem } from '../../lib/site/proxy.ts';
import { trustBundleProblem } from '../../lib/site/trust-bundle.ts';
import { field, list, optional, text, textOf, word } from './message.ts';

/** In nmstate documents too, a key without a value counts as omitted. */
function withoutNulls(mapping: Record<string, unknown>): Record<string, unknown> {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    return isRecord(value) ? withoutNulls(value) : value;
  };
  const given = Object.entries(mapping).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([key, value]) => [key, inside(value)]));
}

/** Fields of `bootstrapInPlace` that determine how the host starts. */
export const bootFields = {
  networkConfig: optional(
    field(z.record(z.string(), z.unknown()), {
      expected: 'an nmstate document (a mapping)',
      fix: 'Write interfaces, routes and dns-resolver below it, without | and quotes.',
      isSecret: true,
    }).transform(withoutNulls),
  ),
  additionalNTPSources: optional(
    list(
      textOf(isNtpSource, {
        expected: 'a host name or an address, without a port',
        fix: 'Write it as ntp1.example.com.',
        json: { pattern: '^[0-9a-z][0-9a-z.:-]*$|^[0-9A-Fa-f:.]+$', maxLength: 253 },
      }),
      {
        expected: 'a list of host names or addresses',
        fix: 'Write it as [ntp1.example.com, 192.168.7.1].',
      },
    ),
  ),
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
      fix: 'Omit the field for none; write host or tpm2 to seal the keys of an all-in-one host.',
    }),
  ),
  onAddressChange: optional(
    field(z.enum(ON_ADDRESS_CHANGE), {
      expected: ON_ADDRESS_CHANGE.join(' or '),
      fix: 'Omit the field for stop; write follow to have an installed host take over another address by itself.',
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

/** The schemes that the installer accepts for a proxy's own URL, by field. */
const PROXY_SCHEMES = { httpProxy: ['http'], httpsProxy: ['http', 'https'] } as const;

const proxyUrl = (schemes: readonly string[]) =>
  optional(
    text((value) => (value === '' ? undefined : proxyUrlProblem(value, schemes)), 'x', {
      isSecret: true,
      json: { pattern: `^((${schemes.join('|')})://[^/]+/?)?$` },
    }),
  );

const proxy = z
  .strictObject({
    httpProxy: proxyUrl(PROXY_SCHEMES.httpProxy),
    httpsProxy: proxyUrl(PROXY_SCHEMES.httpsProxy),
    noProxy: optional(text(noProxyProblem, ',', { json: { pattern: '^(\\*|[^*\\s]*)$' } })),
  })
  .refine(({ httpProxy, httpsProxy }) => [httpProxy, httpsProxy].some(isGiven), {
    when: ({ value }) => isRecord(value) && !isGiven(value.httpProxy) && !isGiven(value.httpsProxy),
  });

const proxyFix = 'Write it as {httpProxy: http://proxy.example.com:3128}, or omit proxy.';
const isGiven = (url: unknown) => url !== undefined && url !== null && url !== '';

const repository = text(repositoryProblem, '', { json: { pattern: '^[A-Za-z0-9[][^\\s@]*$' } });

const mirrorsFix = 'Write it as [{source: quay.io/a, mirrors: [registry.example.com:5000/a]}].';

const mirrorList = <Shape extends z.ZodRawShape>(more: Shape) =>
  optional(
    list(
      field(
        z.strictObject({
          source: repository,
          mirrors: list(
            repository,
            { expected: 'a list of registries', fix: mirrorsFix },
            { least: 1 },
          ),
          ...more,
        }),
        { expected: 'a mapping with source and mirrors', fix: mirrorsFix },
      ),
      { expected: 'a list with source and mirrors in each entry', fix: mirrorsFix },
    ),
  );

/** Top-level fields that determine how hosts reach the outside and whom they trust. */
export const siteFields = {
  proxy: optional(
    field(proxy, {
      expected: 'a mapping with httpProxy, httpsProxy or both',
      fix: proxyFix,
      isSecret: true,
      json: { anyOf: [{ required: ['httpProxy'] }, { required: ['httpsProxy'] }] },
      problem: (value) =>
        isRecord(value)
          ? { expected: 'httpProxy, httpsProxy or both', found: 'neither', fix: proxyFix }
          : undefined,
    }),
  ),
  additionalTrustBundle: optional(text(trustBundleProblem, 'x', { isSecret: true })),
  additionalTrustBundlePolicy: word(
    ['Proxyonly', 'Always'],
    'Omit it: the host trusts the bundle with both.',
  ),
  imageContentSources: mirrorList({}),
  imageDigestSources: mirrorList({
    sourcePolicy: word(
      ['AllowContactingSource', 'NeverContactSource'],
      'Omit it to ask the source when all mirrors fail.',
    ),
  }),
};
