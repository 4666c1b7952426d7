import { isIP } from 'node:net';
import type { Problem } from '../../base/errors/problem.ts';
import { type Cluster, clusterDomain } from '../cluster/cluster.ts';
import { withoutFinalDot } from './names.ts';

/** Of a proxy, in the form of the URL standard; there are names with an underscore. */
const PART = '[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?';
const HOST = new RegExp(`^(?:${PART}\\.)*${PART}\\.?$|^\\[.*\\]$`);

/**
 * Why a text is not a valid proxy URL, by the installer's rules (openshift/installer,
 * pkg/types/validation), without any part of its user or password.
 */
export function proxyUrlProblem(text: string, schemes: readonly string[]): Problem | undefined {
  const expected = `the ${schemes.join(' or ')} URL of a proxy`;
  const fix = 'Write it as http://proxy.example.com:3128; user:password@ goes before the host.';
  // These would need quotes in the environment file that systemd reads.
  if (/[^!-~]|["'\\]/.test(text)) {
    return {
      expected,
      found: 'a string with spaces, quotes, backslashes or non-ASCII characters',
      fix: 'Percent-encode them, such as a quote as %22.',
    };
  }
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/./.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return { expected, found: 'a string without a scheme', fix };
  if (!schemes.includes(scheme)) return { expected, found: `a URL of ${scheme}`, fix };
  // Go has other characters in user and password (net/url, validUserinfo) and needs a host, curl refuses a second @.
  const isOfAll =
    /^[^:]+:\/\/(?:[\w.~!$&()*+,;=%:-]*@)?[^/?#@]+(?:[/?#]|$)/.test(text) &&
    !/%(?![0-9a-f]{2})/i.test(text);
  if (!URL.canParse(text) || !isOfAll) {
    const encode =
      'Check host and port; percent-encode special characters in user and password, such as @ as %40 and % as %25.';
    return { expected, found: 'an invalid URL', fix: encode };
  }
  const { pathname, search, hash, hostname, port } = new URL(text);
  if (port === '0') return { expected, found: 'a URL with port 0', fix };
  // Programs in Go would look up an address that is not written in full, others would not.
  if (isIP(hostname) === 4 && !text.includes(hostname)) {
    return { expected, found: 'a URL with an address that is not written in full', fix };
  }
  if (!HOST.test(hostname)) {
    return { expected, found: 'a URL whose host is neither a name nor an address', fix };
  }
  if (pathname === '/' && search === '' && hash === '') return undefined;
  return { expected, found: 'a URL with more than host and port', fix };
}

const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const DOMAIN = new RegExp(`^\\.?${LABEL}(\\.${LABEL})*\\.?$`);

/**
 * Why a text is not a valid noProxy of the installer (pkg/types/validation,
 * validateProxy): names, including absolute ones, addresses and networks; or `*`
 * alone; or nothing.
 */
export function noProxyProblem(text: string): Problem | undefined {
  if (text === '*' || text === '') return undefined;
  const bad = text.split(',').findIndex((entry) => !isExempt(entry));
  if (bad < 0) return undefined;
  return {
    expected: 'names, addresses and networks, separated by commas only; or just *',
    found: `${JSON.stringify(text.split(',')[bad]?.slice(0, 60))} as entry ${bad + 1}`,
    fix: 'Write it as .example.com,192.168.7.0/24: a leading dot matches all names below.',
  };
}

function isExempt(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 0) return DOMAIN.test(entry) && !/^[\d.]+$/.test(entry);
  if (prefix === undefined) return true;
  return (
    rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
  );
}

/**
 * The given noProxy plus everything that never uses a proxy: the cluster's own
 * names and networks, in the order of the installer (createNoProxy). `*` stays
 * alone. Absolute names lose their trailing dot, with which Go programs would match
 * nothing (x/net/http/httpproxy).
 */
export function completeNoProxy(
  given: string,
  cluster: Pick<
    Cluster,
    'name' | 'baseDomain' | 'machineNetwork' | 'clusterNetwork' | 'serviceNetwork'
  >,
): string[] {
  if (given === '*') return ['*'];
  const all = new Set([
    '127.0.0.1',
    'localhost',
    '.svc',
    '.cluster.local',
    `api-int.${clusterDomain(cluster)}`,
    ...cluster.machineNetwork,
    ...cluster.clusterNetwork.map(({ cidr }) => cidr),
    ...cluster.serviceNetwork,
    ...given.split(',').flatMap((entry) => (entry === '' ? [] : [withoutFinalDot(entry)])),
  ]);
  return [...all].toSorted();
}
