import { SITE_CA } from './certificates.ts';
import { type Case, type Edit, top } from './install-config-file.ts';

const bundle = (text: string): Edit =>
  top(`additionalTrustBundle: |\n  ${text.trim().replaceAll('\n', '\n  ')}`);

const proxies: readonly Case[] = [
  {
    name: 'proxy that is a text',
    edits: [top('proxy: http://me:hunter2@proxy:3128')],
    faults: [
      '20:8 proxy: expected a mapping with httpProxy, httpsProxy or both, found a string of 28 characters. Write it as {httpProxy: http://proxy.example.com:3128}, or omit proxy.',
    ],
    hides: /hunter2/,
  },
  {
    name: 'proxy without a URL',
    edits: [top('proxy: {noProxy: example.com}')],
    faults: [
      '20:8 proxy: expected httpProxy, httpsProxy or both, found neither. Write it as {httpProxy: http://proxy.example.com:3128}, or omit proxy.',
    ],
  },
  {
    name: 'proxy mistyped',
    edits: [top('proxy: {httpProxi: "http://me:hunter2@proxy"}')],
    faults: [
      '20:8 proxy: expected httpProxy, httpsProxy or both, found neither. Write it as {httpProxy: http://proxy.example.com:3128}, or omit proxy.',
      '20:9 proxy.httpProxi: expected a known field, found a string of 23 characters. Did you mean httpProxy?',
    ],
    hides: /hunter2/,
  },
  {
    name: 'proxy of https for httpProxy',
    edits: [top('proxy: {httpProxy: "https://me:hunter2@proxy:3128"}')],
    faults: [
      '20:20 proxy.httpProxy: expected the http URL of a proxy, found a URL of https. Write it as http://proxy.example.com:3128; user:password@ goes before the host.',
    ],
    hides: /hunter2/,
  },
  {
    name: 'proxy of SOCKS',
    edits: [top('proxy: {httpsProxy: "socks5://me:hunter2@proxy:1080"}')],
    faults: [
      '20:21 proxy.httpsProxy: expected the http or https URL of a proxy, found a URL of socks5. Write it as http://proxy.example.com:3128; user:password@ goes before the host.',
    ],
    hides: /hunter2/,
  },
  {
    name: 'proxy without a scheme',
    edits: [top('proxy: {httpProxy: "me:hunter2@proxy:3128"}')],
    faults: [
      '20:20 proxy.httpProxy: expected the http URL of a proxy, found a string without a scheme. Write it as http://proxy.example.com:3128; user:password@ goes before the host.',
    ],
    hides: /hunter2|me:/,
  },
  {
    name: 'proxy with a bad port',
    edits: [top('proxy: {httpProxy: "http://me:hunter2@proxy:port"}')],
    faults: [
      '20:20 proxy.httpProxy: expected the http URL of a proxy, found an invalid URL. Check host and port; percent-encode special characters in user and password, such as @ as %40 and % as %25.',
    ],
    hides: /hunter2/,
  },
  {
    name: 'proxy with a slash in its password',
    edits: [top('proxy: {httpProxy: "http://me:hun/ter2@proxy:3128"}')],
    faults: [
      '20:20 proxy.httpProxy: expected the http URL of a proxy, found an invalid URL. Check host and port; percent-encode special characters in user and password, such as @ as %40 and % as %25.',
    ],
    hides: /ter2/,
  },
  {
    name: 'proxy with a path',
    edits: [top('proxy: {httpProxy: "http://me:hunter2@proxy:3128/proxy.pac"}')],
    faults: [
      '20:20 proxy.httpProxy: expected the http URL of a proxy, found a URL with more than host and port. Write it as http://proxy.example.com:3128; user:password@ goes before the host.',
    ],
    hides: /hunter2/,
  },
  {
    name: 'proxy with a line break',
    edits: [top('proxy: {httpProxy: "http://proxy:3128\\nLD_PRELOAD=hunter2"}')],
    faults: [
      '20:20 proxy.httpProxy: expected the http URL of a proxy, found a string with spaces, quotes, backslashes or non-ASCII characters. Percent-encode them, such as a quote as %22.',
    ],
    hides: /hunter2/,
  },
  {
    name: 'proxy with a quote',
    edits: [top(`proxy: {httpProxy: "http://me:hun'ter2@proxy:3128"}`)],
    faults: [
      '20:20 proxy.httpProxy: expected the http URL of a proxy, found a string with spaces, quotes, backslashes or non-ASCII characters. Percent-encode them, such as a quote as %22.',
    ],
    hides: /ter2/,
  },
  {
    name: 'proxy in the service network',
    edits: [top('proxy: {httpProxy: "http://me:hunter2@172.30.0.9:3128"}')],
    faults: [
      "20:20 proxy.httpProxy: expected a proxy outside of the cluster's network 172.30.0.0/16, found the address 172.30.0.9. Use a proxy that the host can reach, or choose other networks for the cluster.",
    ],
    hides: /hunter2/,
  },
  {
    name: 'noProxy with a wildcard',
    edits: [top('proxy: {httpProxy: "http://proxy:3128", noProxy: "example.com,*.example.org"}')],
    faults: [
      '20:50 proxy.noProxy: expected names, addresses and networks, separated by commas only; or just *, found "*.example.org" as entry 2. Write it as .example.com,192.168.7.0/24: a leading dot matches all names below.',
    ],
  },
  {
    name: 'noProxy with a blank',
    edits: [
      top('proxy: {httpProxy: "http://proxy:3128", noProxy: "a.example.com, b.example.com"}'),
    ],
    faults: [
      '20:50 proxy.noProxy: expected names, addresses and networks, separated by commas only; or just *, found " b.example.com" as entry 2. Write it as .example.com,192.168.7.0/24: a leading dot matches all names below.',
    ],
  },
  {
    name: 'noProxy with a bad network',
    edits: [top('proxy: {httpProxy: "http://proxy:3128", noProxy: "10.0.0.0/33"}')],
    faults: [
      '20:50 proxy.noProxy: expected names, addresses and networks, separated by commas only; or just *, found "10.0.0.0/33" as entry 1. Write it as .example.com,192.168.7.0/24: a leading dot matches all names below.',
    ],
  },
  {
    name: 'noProxy as a list',
    edits: [top('proxy: {httpProxy: "http://proxy:3128", noProxy: [example.com]}')],
    faults: [
      '20:50 proxy.noProxy: expected names, addresses and networks, separated by commas only; or just *, found a list. Write it as .example.com,192.168.7.0/24: a leading dot matches all names below.',
    ],
  },
];

/** What is an address, but that of no server. */
const servers: readonly Case[] = [
  {
    name: 'a proxy at no address of a host',
    edits: [top('proxy: {httpProxy: "http://me:hunter2@0.0.0.0:3128"}')],
    faults: ['20 proxy.httpProxy'],
    says: /found 0\.0\.0\.0, an address of "this network"/,
    hides: /hunter2/,
  },
  {
    name: 'a clock and a proxy that only pods can look up',
    edits: [
      top('proxy: {httpProxy: "http://proxy.default.svc.cluster.local:3128"}'),
      [
        'existingSystem: overwrite',
        'existingSystem: overwrite\n  additionalNTPSources: [ntp.default.svc.cluster.local]',
      ],
    ],
    faults: ['20 proxy.httpProxy', '27 bootstrapInPlace.additionalNTPSources[0]'],
    says: /a name outside of cluster\.local, which only pods can look up/,
  },
  {
    name: 'clocks at no address of a server',
    edits: [
      [
        'existingSystem: overwrite',
        'existingSystem: overwrite\n  networkConfig: {interfaces: [{name: a, type: ethernet, ipv4: {enabled: true, address: [{ip: 192.168.7.10, prefix-length: 24}]}}]}\n  additionalNTPSources: [ff02::101, 172.30.0.5, 192.168.7.255]',
      ],
    ],
    faults: [
      '27 bootstrapInPlace.additionalNTPSources[0]',
      '27 bootstrapInPlace.additionalNTPSources[1]',
      '27 bootstrapInPlace.additionalNTPSources[2]',
    ],
    says: /an address of multicast[\s\S]*outside of the Services' network/,
  },
];

/** As templates have them; the linter takes the dollar sign before a brace for a mistake. */
const templates: readonly Case[] = [
  {
    name: 'a template that is not rendered',
    edits: [
      top('proxy: {httpProxy: "http://me:{{hunter2}}@proxy:3128"}'),
      ['existingSystem: overwrite', 'existingSystem: overwrite\n  kernelArguments: ["foo={{x}}"]'],
      ['sno1.example.com', '<hostname>'],
    ],
    faults: [
      '20 proxy.httpProxy',
      '25 bootstrapInPlace.hostname',
      '27 bootstrapInPlace.kernelArguments[0]',
    ],
    says: /expected a value, found a placeholder of a template\. Fill it in/,
    hides: /hunter2/,
  },
];

const trust: readonly Case[] = [
  {
    name: 'trust bundle without a certificate',
    edits: [top('additionalTrustBundle: /etc/pki/ca.crt')],
    faults: [
      '20:24 additionalTrustBundle: expected X.509 certificates in PEM, found the path of a file. Include the CA certificates, each from its BEGIN to its END line.',
    ],
  },
  {
    name: 'trust bundle with a private key',
    edits: [bundle(`${SITE_CA}-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----`)],
    faults: [
      '20:24 additionalTrustBundle: expected X.509 certificates in PEM, found a private key. Remove it: only the CA certificate is needed.',
    ],
    hides: /hunter2/,
  },
  {
    name: 'trust bundle that is cut',
    edits: [bundle(SITE_CA.replace('-----END CERTIFICATE-----', ''))],
    faults: [
      '20:24 additionalTrustBundle: expected X.509 certificates in PEM, found a BEGIN line without its END line. Include the CA certificates, each from its BEGIN to its END line.',
    ],
  },
  {
    name: 'trust bundle with something else in it',
    edits: [bundle(`${SITE_CA}-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----`)],
    faults: [
      '20:24 additionalTrustBundle: expected X.509 certificates in PEM, found an invalid certificate, number 2 of 2. Include the CA certificates, each from its BEGIN to its END line.',
    ],
  },
  {
    name: 'trust bundle with a request',
    edits: [
      bundle('-----BEGIN CERTIFICATE REQUEST-----\naGVsbG8=\n-----END CERTIFICATE REQUEST-----'),
    ],
    faults: [
      '20:24 additionalTrustBundle: expected X.509 certificates in PEM, found a block CERTIFICATE REQUEST. Include the CA certificates, each from its BEGIN to its END line.',
    ],
  },
  {
    name: 'trust bundle as a list',
    edits: [top('additionalTrustBundle: [a]')],
    faults: [
      '20:24 additionalTrustBundle: expected X.509 certificates in PEM, found a list. Include the CA certificates, each from its BEGIN to its END line.',
    ],
  },
  {
    name: 'policy of the trust bundle',
    edits: [top('additionalTrustBundlePolicy: ProxyOnly')],
    faults: [
      '20:30 additionalTrustBundlePolicy: expected Proxyonly or Always, found "ProxyOnly". Omit it: the host trusts the bundle with both.',
    ],
  },
];

const mirrors: readonly Case[] = [
  {
    name: 'mirrors in both fields',
    edits: [
      top(
        'imageDigestSources: [{source: quay.io/a, mirrors: [r.example.com/a]}]\nimageContentSources: [{source: quay.io/a, mirrors: [r.example.com/a]}]',
      ),
    ],
    faults: [
      '21:1 imageContentSources: expected either this field or imageDigestSources, found both. Move its entries to imageDigestSources, which means the same.',
    ],
  },
  {
    name: 'mirrors as a mapping',
    edits: [top('imageDigestSources: {source: quay.io}')],
    faults: [
      '20:21 imageDigestSources: expected a list with source and mirrors in each entry, found a mapping. Write it as [{source: quay.io/a, mirrors: [registry.example.com:5000/a]}].',
    ],
  },
  {
    name: 'mirror with a scheme',
    edits: [top('imageDigestSources: [{source: quay.io/a, mirrors: ["https://r.example.com/a"]}]')],
    faults: [
      '20:52 imageDigestSources[0].mirrors[0]: expected a registry, with or without the path of a repository, found "https://r.example.com/a". Omit the scheme.',
    ],
  },
  {
    name: 'mirror with a tag',
    edits: [top('imageDigestSources: [{source: quay.io/a, mirrors: ["r.example.com/a:latest"]}]')],
    faults: [
      '20:52 imageDigestSources[0].mirrors[0]: expected a registry, with or without the path of a repository, found "r.example.com/a:latest". Omit the tag or digest.',
    ],
  },
  {
    name: 'source with a digest',
    edits: [
      top('imageDigestSources: [{source: "quay.io/a@sha256:00", mirrors: [r.example.com/a]}]'),
    ],
    faults: [
      '20:31 imageDigestSources[0].source: expected a registry, with or without the path of a repository, found "quay.io/a@sha256:00". Omit the tag or digest.',
    ],
  },
  {
    name: 'source of a short name',
    edits: [top('imageDigestSources: [{source: library/nginx, mirrors: [r.example.com/a]}]')],
    faults: [
      '20:31 imageDigestSources[0].source: expected a registry, with or without the path of a repository, found "library/nginx". Write it as registry.example.com:5000/ocp4/release.',
    ],
  },
  {
    name: 'source without a registry',
    edits: [top('imageDigestSources: [{source: nginx, mirrors: [r.example.com/a]}]')],
    faults: [
      '20:31 imageDigestSources[0].source: expected a registry with a dot or a port in its name, with or without the path of a repository, found "nginx". Write the registry in front of it, such as docker.io/library/nginx.',
    ],
  },
  {
    name: 'mirror in capitals',
    edits: [top('imageDigestSources: [{source: quay.io/a, mirrors: [r.example.com/A]}]')],
    faults: [
      '20:52 imageDigestSources[0].mirrors[0]: expected a registry, with or without the path of a repository, found "r.example.com/A". Write it as registry.example.com:5000/ocp4/release.',
    ],
  },
  {
    name: 'source without mirrors',
    edits: [top('imageContentSources: [{source: quay.io/a}]')],
    faults: [
      '20:23 imageContentSources[0].mirrors: expected a list of registries, found nothing. Write it as [{source: quay.io/a, mirrors: [registry.example.com:5000/a]}].',
    ],
  },
  {
    name: 'source policy',
    edits: [
      top(
        'imageDigestSources: [{source: quay.io/a, mirrors: [r.example.com/a], sourcePolicy: Never}]',
      ),
    ],
    faults: [
      '20:84 imageDigestSources[0].sourcePolicy: expected AllowContactingSource or NeverContactSource, found "Never". Omit it to ask the source when all mirrors fail.',
    ],
  },
  {
    name: 'mirrors mistyped',
    edits: [top('imageDigestSources: [{source: quay.io/a, mirror: [r.example.com/a]}]')],
    faults: [
      '20:22 imageDigestSources[0].mirrors: expected a list of registries, found nothing. Write it as [{source: quay.io/a, mirrors: [registry.example.com:5000/a]}].',
      '20:42 imageDigestSources[0].mirror: expected a known field, found a list. Did you mean mirrors?',
    ],
  },
];

/** The site's access to external networks, and the CAs it trusts. */
export const outside: readonly Case[] = [
  ...proxies,
  ...servers,
  ...templates,
  ...trust,
  ...mirrors,
];
