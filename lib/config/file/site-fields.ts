import { z } from 'zod';
import { isRecord } from '../../base/json.ts';
import { sshKeyProblem } from '../../pki/signature/ssh-keys.ts';
import { isHostPattern, repositoryProblem, sourceProblem } from '../site/mirrors.ts';
import {
  BASE_DOMAIN,
  baseDomainProblem,
  DNS_LABEL,
  DNS_NAME,
  isBaseDomain,
  isClusterName,
  isNtpSource,
  isUsableHostname,
  LONGEST_BASE_DOMAIN,
  LONGEST_CLUSTER_NAME,
  LONGEST_HOSTNAME,
  numericNameProblem,
} from '../site/names.ts';
import { cidrProblem } from '../site/networks.ts';
import { noProxyProblem, proxyUrlProblem } from '../site/proxy.ts';
import { pullSecretProblem } from '../site/pull-secret.ts';
import { trustBundleProblem } from '../site/trust-bundle.ts';
import { field, list, optional, text, textOf, word } from './message.ts';

/** Fields that install-config.yaml and site-config.yaml share, whatever their names are. */

export const mapping = <Shape extends z.ZodRawShape>(
  shape: Shape,
  fix: string,
  expected = 'a mapping',
) => field(z.strictObject(shape), { expected, fix });

export const clusterName = textOf(isClusterName, {
  expected: `a DNS label: a-z, 0-9 and -, at most ${LONGEST_CLUSTER_NAME} characters`,
  fix: 'Write the name of the cluster, such as sno.',
  json: { pattern: DNS_LABEL.source, maxLength: LONGEST_CLUSTER_NAME },
});

export const baseDomain = field(
  z.string().refine((text) => isBaseDomain(text) && baseDomainProblem(text) === undefined),
  {
    problem: (value) =>
      typeof value === 'string' && isBaseDomain(value) ? baseDomainProblem(value) : undefined,
    expected: `a DNS domain in lower case, at most ${LONGEST_BASE_DOMAIN} characters`,
    fix: 'Write the parent domain of the cluster, such as example.com.',
    json: { pattern: BASE_DOMAIN.source, maxLength: LONGEST_BASE_DOMAIN + 1 },
  },
);

/** `omitted`: what holds without it. */
export const hostnameOf = (omitted: string) =>
  optional(
    textOf(isUsableHostname, {
      problem: (value) => (typeof value === 'string' ? numericNameProblem(value) : undefined),
      expected: `an RFC 1123 host name in lower case, not localhost, at most ${LONGEST_HOSTNAME} characters`,
      fix: `Write the node's name, such as sno1 or sno1.example.com, or omit it ${omitted}.`,
      json: { pattern: DNS_NAME.source, maxLength: LONGEST_HOSTNAME },
    }),
  );

export const networkField = text(cidrProblem, '', {
  json: { pattern: '^[0-9A-Fa-f:.]+/[0-9]{1,3}$' },
});

export const pullSecret = text(pullSecretProblem, '', {
  isSecret: true,
  json: { contentMediaType: 'application/json', pattern: '"auths"' },
});

export const sshKey = optional(text(sshKeyProblem, 'x', { isSecret: true }));

export const trustBundle = optional(text(trustBundleProblem, 'x', { isSecret: true }));

/** In nmstate documents too, a key without a value counts as omitted. */
export function withoutNulls(mapping: Record<string, unknown>): Record<string, unknown> {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    return isRecord(value) ? withoutNulls(value) : value;
  };
  const given = Object.entries(mapping).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([key, value]) => [key, inside(value)]));
}

export const ntpSources = optional(
  list(
    textOf(isNtpSource, {
      expected: 'a host name or an address, without a port',
      fix: 'Write it as ntp1.example.com.',
      json: { pattern: '^[0-9A-Za-z][0-9A-Za-z.:-]*$|^[0-9A-Fa-f:.]+$', maxLength: 253 },
    }),
    {
      expected: 'a list of host names or addresses',
      fix: 'Write it as [ntp1.example.com, 192.168.7.1].',
    },
  ),
);

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
const plainSource = text(sourceProblem, '', { json: { pattern: '^[A-Za-z0-9[][^\\s@]*$' } });

const mirrorsFix = 'Write it as [{source: quay.io/a, mirrors: [registry.example.com:5000/a]}].';

/** Also `*.example.com`, for all hosts below it. */
export const repositoryOrHosts = text(
  (value) => (isHostPattern(value) ? undefined : sourceProblem(value)),
  '',
  { json: { pattern: '^(\\*\\.)?[A-Za-z0-9[][^\\s@]*$' } },
);

/** Sources with their mirrors; `more`: further fields of each. */
export const mirrorList = <Shape extends z.ZodRawShape>(
  more: Shape,
  source: z.ZodString = plainSource,
) =>
  optional(
    list(
      field(
        z.strictObject({
          source,
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

export const proxyField = optional(
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
);

/** What to do when all mirrors have failed. */
export const sourcePolicy = word(
  ['AllowContactingSource', 'NeverContactSource'],
  'Omit it to ask the source when all mirrors fail.',
);
