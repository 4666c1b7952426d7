import { z } from 'zod';
import { isRecord } from '../../base/json.ts';
import { isAddress } from '../../base/network/address.ts';
import { field, list, optional, text, textOf } from '../file/message.ts';
import {
  baseDomain,
  clusterName,
  hostnameOf,
  mapping,
  mirrorList,
  networkField,
  ntpSources,
  proxyField,
  pullSecret,
  repositoryOrHosts,
  sourcePolicy,
  sshKey,
  trustBundle,
} from '../file/site-fields.ts';
import { isLookupName } from '../site/names.ts';
import {
  endpointProblem,
  httpsProblem,
  identifierProblem,
  isLabelValue,
  timeProblem,
} from './fields.ts';

const address = textOf(isAddress, {
  expected: 'an IPv4 or IPv6 address',
  fix: 'Write it as 192.168.7.1 or fd00::1.',
});

const dns = mapping(
  {
    servers: optional(
      list(
        address,
        { expected: 'a list of at most 3 addresses', fix: 'Write it as [192.168.7.1].' },
        { most: 3 },
      ),
    ),
    search: optional(
      list(
        textOf(isLookupName, {
          expected: 'a DNS domain',
          fix: 'Write it as shop.example.com.',
        }),
        { expected: 'a list of at most 6 domains', fix: 'Write it as [shop.example.com].' },
        { most: 6 },
      ),
    ),
  },
  'Write it as {servers: [192.168.7.1], search: [example.com]}.',
  'a mapping with servers, search or both',
);

const pemOrPath = (what: string, isSecret: boolean) =>
  field(z.string().min(1), {
    expected: `${what} in PEM, or the path of its file beside site-config.yaml`,
    fix: 'Write the path, such as certificates/api.pem.',
    ...(isSecret ? { isSecret } : {}),
  });

const certificate = (name: string) =>
  optional(
    mapping(
      {
        certificate: pemOrPath('the certificate, and after it those of its issuers,', false),
        key: pemOrPath('the private key, without a passphrase,', true),
      },
      `Write it as {certificate: ${name}.crt, key: ${name}.key}, or omit it: the host makes one.`,
      'a mapping with certificate and key',
    ),
  );

/** What a check looks for: the only key of its entry. */
export const CHECKS = ['ping', 'tcp', 'dns', 'https'] as const;

const checkFix = 'Write one of ping: ADDRESS, tcp: HOST:PORT, dns: NAME and https: URL.';

const siteCheck = field(
  z
    .strictObject({
      ping: optional(address),
      tcp: optional(text(endpointProblem, '')),
      dns: optional(
        textOf(isLookupName, { expected: 'a DNS name', fix: 'Write it as registry.example.com.' }),
      ),
      https: optional(text(httpsProblem, '')),
    })
    .refine((entry) => CHECKS.filter((kind) => entry[kind] !== undefined).length === 1, {
      // An unknown key is a fault of its own.
      when: ({ issues }) => issues.length === 0,
    }),
  {
    expected: 'a mapping with one of ping, tcp, dns and https',
    fix: checkFix,
    problem: (value) =>
      isRecord(value)
        ? {
            expected: 'one of ping, tcp, dns and https',
            found: Object.keys(value).join(' and ') || 'none',
            fix: 'Write each check as an entry of its own.',
          }
        : undefined,
  },
);

/** Enough for a person; each takes time while the kubelet is stopped. */
const MOST_CHECKS = 32;
const MOST_HOSTS = 1000;

const labelFix = 'Write it as {example.com/site: "0042"}; quote numbers and words such as yes.';

/** Their keys are judged in refine.ts: a record has no message for them. */
const nodeLabels = field(
  z.record(
    z.string(),
    textOf(isLabelValue, {
      expected: 'the value of a label: at most 63 letters, digits, "-", "_" and "."',
      fix: labelFix,
    }),
  ),
  { expected: 'a mapping of labels', fix: labelFix },
);

/**
 * site-config.yaml, with the message of each field. Names are those of lifecycle-agent's SeedReconfiguration
 * (openshift-kni/lifecycle-agent, api/seedreconfig) where it has the field, else those of install-config.yaml.
 */
export const siteConfigSchema = mapping(
  {
    api_version: field(z.literal(1), { expected: '1', fix: 'Write api_version: 1.' }),
    serial: optional(
      field(z.int().min(1), {
        expected: 'a whole number from 1',
        fix: 'Write one that is higher than that of the last volume, or omit it: sno create site-volume takes the time.',
      }),
    ),
    validUntil: optional(
      text(timeProblem, '', { json: { pattern: '^\\d{4}-\\d{2}-\\d{2}(T.*)?$' } }),
    ),
    hosts: optional(
      list(
        text(identifierProblem, ''),
        {
          expected: `a list of at most ${MOST_HOSTS} serial numbers and MAC addresses`,
          fix: 'Write it as ["CZ1234ABCD", "52:54:00:12:34:56"], or omit it for any node.',
        },
        { least: 1, most: MOST_HOSTS },
      ),
    ),
    cluster_name: clusterName,
    base_domain: baseDomain,
    hostname: hostnameOf('to keep the name'),
    renameNode: flag('to give the Node the name of the host too; its volumes move with it'),
    nodeAddress: optional(
      field(z.enum(['internal', 'site']), {
        expected: 'internal or site',
        fix: 'Omit it for internal, the address of the installation, which stays with the node.',
      }),
    ),
    machine_networks: optional(
      list(
        networkField,
        {
          expected: "a list of the site's networks, at most 8",
          fix: 'Write it as [192.168.7.0/24].',
        },
        { most: 8 },
      ),
    ),
    raw_nm_state_config: optional(
      field(z.union([z.record(z.string(), z.unknown()), z.string().min(1)]), {
        expected: 'an nmstate document: a mapping, or its text',
        fix: 'Write interfaces, routes and dns-resolver below it.',
        isSecret: true,
      }),
    ),
    dns: optional(dns),
    additionalNTPSources: ntpSources,
    proxy: proxyField,
    additionalTrustBundle: optional(
      mapping(
        { userCaBundle: trustBundle },
        'Write it as {userCaBundle: "-----BEGIN CERTIFICATE-----..."}.',
        'a mapping with userCaBundle',
      ),
    ),
    imageContentSources: mirrorList({}),
    imageDigestSources: mirrorList({ sourcePolicy }, repositoryOrHosts),
    imageTagSources: mirrorList({ sourcePolicy }, repositoryOrHosts),
    pull_secret: optional(pullSecret),
    ssh_key: sshKey,
    keepHostKeys: flag('to keep the keys by which clients of SSH know the host'),
    kubeadmin_password_hash: optional(
      field(z.string().regex(/^\$2[aby]\$(0[4-9]|1\d|2\d|3[01])\$[./A-Za-z0-9]{53}$/), {
        expected: 'a bcrypt hash',
        fix: 'Write the result of htpasswd -nbBC 10 "" PASSWORD without its colon.',
        isSecret: true,
      }),
    ),
    node_labels: optional(nodeLabels),
    certificates: optional(
      mapping(
        { api: certificate('api'), ingress: certificate('ingress') },
        'Write certificates with api, ingress or both, or omit it: the host makes them.',
        'a mapping with api, ingress or both',
      ),
    ),
    siteChecks: optional(
      list(
        siteCheck,
        {
          expected: `a list of at most ${MOST_CHECKS} checks`,
          fix: 'Write it as [ping: 192.168.7.1].',
        },
        { most: MOST_CHECKS },
      ),
    ),
    allowRestart: flag('to accept about ten minutes more on OpenShift, for a restart'),
  },
  'Start with the example in docs/reference/site-config.md.',
);

function flag(purpose: string) {
  const fix = `Write true ${purpose}, or omit it.`;
  return optional(field(z.boolean(), { expected: 'true or false', fix }));
}

/** site-config.yaml with its own types. */
export type RawSiteConfig = z.infer<typeof siteConfigSchema>;

/** Some of its fields. */
export const someSiteFieldsSchema = siteConfigSchema.partial();
export type SomeSiteFields = z.infer<typeof someSiteFieldsSchema>;
