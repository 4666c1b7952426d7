import { isRecord } from '../../lib/ignition/config.ts';
import { kernelArgumentProblem } from './boot-arguments.ts';
import type { Field, Wanted } from './fields.ts';
import { repositoryProblem } from './mirrors.ts';
import { noProxyProblem, proxyUrlProblem } from './proxy.ts';
import { PROXY_SCHEMES } from './schema.ts';
import { trustBundleProblem } from './trust-bundle.ts';

/** A field that is a text with rules of its own; `otherwise` is wanted where it is none. */
function text(problem: (value: string) => Wanted | undefined, otherwise: Wanted): Field {
  return (value) => (typeof value === 'string' ? problem(value) : undefined) ?? otherwise;
}

const proxyUrl = (schemes: readonly string[]) =>
  text((value) => proxyUrlProblem(value, schemes), {
    expected: `the ${schemes.join(' or ')} URL of a proxy`,
    fix: 'Write it as http://proxy.example.com:3128.',
  });

const repository = text(repositoryProblem, {
  expected: 'a registry, with or without the path of a repository',
  fix: 'Write it as registry.example.com:5000/ocp4/release.',
});

function mirrorFields(field: string): Record<string, Field> {
  const fix = 'Write it as [{source: quay.io/a, mirrors: [registry.example.com:5000/a]}].';
  return {
    [field]: { expected: 'a list with source and mirrors in each entry', fix },
    [`${field}[]`]: { expected: 'a mapping with source and mirrors', fix },
    [`${field}[].source`]: repository,
    [`${field}[].mirrors`]: { expected: 'a list of registries', fix },
    [`${field}[].mirrors[]`]: repository,
  };
}

/** Fields by which a site says how its hosts reach the world, whom they trust and how they start. */
export const SITE_FIELDS: Readonly<Record<string, Field>> = {
  'bootstrapInPlace.networkConfig': {
    expected: 'an nmstate document as a mapping',
    fix: 'Write interfaces, routes and dns-resolver below it, without | and quotes.',
  },
  'bootstrapInPlace.additionalNTPSources': {
    expected: 'a list of host names or addresses',
    fix: 'Write it as [ntp1.example.com, 192.168.7.1].',
  },
  'bootstrapInPlace.additionalNTPSources[]': {
    expected: 'a host name or an address, without a port',
    fix: 'Write it as ntp1.example.com.',
  },
  'bootstrapInPlace.kernelArguments': {
    expected: 'a list of kernel arguments',
    fix: 'Write it as ["console=ttyS0,115200n8"].',
  },
  'bootstrapInPlace.kernelArguments[]': text(kernelArgumentProblem, {
    expected: 'one kernel argument without blanks or quotes',
    fix: 'Write it in quotes.',
  }),
  'bootstrapInPlace.savePartitions': {
    expected: 'a mapping with labels or indexes',
    fix: 'Write it as {labels: ["data*"]} or {indexes: ["5-"]}.',
  },
  'bootstrapInPlace.savePartitions.labels': {
    expected: 'a list of partition labels',
    fix: 'Write it as ["data*"].',
  },
  'bootstrapInPlace.savePartitions.labels[]': {
    expected: 'a label of at most 36 characters without commas, in which * and ? stand for others',
    fix: 'Write each label as an entry of its own.',
  },
  'bootstrapInPlace.savePartitions.indexes': {
    expected: 'a list of partition numbers',
    fix: 'Write it as ["5-"].',
  },
  'bootstrapInPlace.savePartitions.indexes[]': {
    expected: 'a number from 1, or a range such as "5-7", "5-" or "-7"',
    fix: 'Write it as it stands in the partition table.',
  },
  proxy: (value) => ({
    expected: 'a mapping with httpProxy, httpsProxy or both',
    ...(isRecord(value) ? { found: 'neither' } : {}),
    fix: 'Write it as {httpProxy: http://proxy.example.com:3128}, or leave proxy out.',
  }),
  'proxy.httpProxy': proxyUrl(PROXY_SCHEMES.httpProxy),
  'proxy.httpsProxy': proxyUrl(PROXY_SCHEMES.httpsProxy),
  'proxy.noProxy': text(noProxyProblem, {
    expected: 'names, addresses and networks as one text, separated by commas; or only *',
    fix: 'Write it as .example.com,192.168.7.0/24.',
  }),
  additionalTrustBundle: text(trustBundleProblem, {
    expected: 'X.509 certificates in PEM as a text',
    fix: 'Write additionalTrustBundle: | and the certificates below it, indented.',
  }),
  additionalTrustBundlePolicy: {
    expected: 'Proxyonly or Always',
    fix: 'Leave it out: the host trusts the bundle with both.',
  },
  ...mirrorFields('imageContentSources'),
  ...mirrorFields('imageDigestSources'),
  'imageDigestSources[].sourcePolicy': {
    expected: 'AllowContactingSource or NeverContactSource',
    fix: 'Leave it out to ask the source when all mirrors fail.',
  },
};
