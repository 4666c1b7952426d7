import { isIP } from 'node:net';
import type { Problem } from '../../base/errors/problem.ts';

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';

/** An RFC 1123 label. */
export const DNS_LABEL = new RegExp(`^${LABEL}$`);
/** An RFC 1123 subdomain; its length is checked separately. */
export const DNS_NAME = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
/** As Kubernetes has names and prefixes of labels: of its parts it does not limit the length (apimachinery, IsDNS1123Subdomain). */
export const isSubdomain = (text: string): boolean =>
  text.length <= 253 &&
  text.split('.').every((part) => /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(part));
/** A base domain may be absolute. */
export const BASE_DOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*\\.?$`);

/**
 * The installer's limit: `*.apps` takes nine of a label's 63 characters in zone
 * files (pkg/validate, ClusterName).
 */
export const LONGEST_CLUSTER_NAME = 54;
/** For a node's name: Linux permits 64 characters, a Kubernetes label 63. */
export const LONGEST_HOSTNAME = 63;
/** The longest of the cluster's names must be a DNS name, too. */
export const LONGEST_BASE_DOMAIN =
  253 - 'console-openshift-console.apps.'.length - LONGEST_CLUSTER_NAME - '.'.length;

export function isClusterName(text: string): boolean {
  return text.length <= LONGEST_CLUSTER_NAME && DNS_LABEL.test(text);
}

/** With or without the final dot. */
export function isBaseDomain(text: string): boolean {
  return withoutFinalDot(text).length <= LONGEST_BASE_DOMAIN && BASE_DOMAIN.test(text);
}

/** A domain whose last label is a number: a URL with it is taken for one of an address (WHATWG URL, "ends in a number"). */
const endsInNumber = (domain: string): boolean =>
  /(^|\.)(\d+|0x[0-9a-f]*)$/i.test(withoutFinalDot(domain));

/** Of the cluster's own DNS, which answers for it and asks nobody. */
const SERVICE_DOMAIN = 'cluster.local';

/** Whether a name is in the domain of the cluster's Services. */
export const isOfServices = (domain: string): boolean =>
  `.${withoutFinalDot(domain).toLowerCase()}`.endsWith(`.${SERVICE_DOMAIN}`);

/** A base domain that has the name of the cluster already: valid, but rarely what is meant. */
export const repeatedNameNotices = (name: string, baseDomain: string): string[] =>
  baseDomain.startsWith(`${name}.`)
    ? [
        `the domain of the cluster is ${name}.${withoutFinalDot(baseDomain)}: its name comes before the base domain, which has it already`,
      ]
    : [];

/** Why a base domain cannot be that of a cluster; its form is judged by isBaseDomain. */
export function baseDomainProblem(text: string): Problem | undefined {
  const found = JSON.stringify(text.slice(0, 60));
  const fix = 'Write the parent domain of the cluster, such as example.com.';
  if (isIP(withoutFinalDot(text)) !== 0) {
    return { expected: 'a DNS domain', found: `${found}, an address`, fix };
  }
  if (endsInNumber(text)) {
    return { expected: 'a DNS domain', found: `${found}, which ends in a number`, fix };
  }
  if (!isOfServices(text)) return undefined;
  return { expected: `a domain outside of ${SERVICE_DOMAIN}, that of Services`, found, fix };
}

/** Why a cluster's domain cannot be used, though its name and its base domain can. */
export function clusterDomainProblem(domain: string): Problem | undefined {
  if (!isOfServices(domain)) return undefined;
  const expected = `a domain outside of ${SERVICE_DOMAIN}, that of Services`;
  return { expected, found: domain, fix: 'Choose another domain or another name of the cluster.' };
}

/** A valid name for a node. One that ends in a number, such as 7 or 1.2, is an address to the C library (inet_aton). */
export function isUsableHostname(text: string): boolean {
  if (text.length > LONGEST_HOSTNAME || !DNS_NAME.test(text) || endsInNumber(text)) return false;
  return text !== 'localhost' && !text.startsWith('localhost.');
}

/** Why a host name of a valid form is none. */
export function numericNameProblem(text: string): Problem | undefined {
  if (!DNS_NAME.test(text) || !endsInNumber(text)) return undefined;
  const fix = 'Write a name with a letter in its last part, such as sno1 or sno1.example.com.';
  const found = `${JSON.stringify(text.slice(0, 60))}, which programs read as an address`;
  return { expected: 'a host name that does not end in a number', found, fix };
}

/** Why the host finds no server by a name of that domain: its own name servers are asked, not the cluster's DNS. */
export const serviceNameProblem = (name: string): Problem => ({
  expected: `a name outside of ${SERVICE_DOMAIN}, which only pods can look up`,
  found: name,
  fix: 'Write a name or an address that the host itself can reach.',
});

/** Names below a cluster's domain that clients use for its API and its applications. */
const isOfCluster = (name: string, domain: string): boolean => {
  const plain = withoutFinalDot(name).toLowerCase();
  const known = ['api', 'api-int', 'apps'].map((label) => `${label}.${domain}`);
  return known.includes(plain) || plain.endsWith(`.apps.${domain}`);
};

/** Why a node cannot have this name, though its form is valid; `domain` is the cluster's. */
export function hostnameProblem(hostname: string, domain: string): Problem | undefined {
  const found = JSON.stringify(hostname);
  if (isOfCluster(hostname, domain)) {
    const fix = `Write a name of the node's own, such as node.${domain}.`;
    return { expected: 'a name that is not one of the cluster itself', found, fix };
  }
  if (!isOfServices(hostname)) return undefined;
  const fix = 'Write a name outside of it, such as sno1.example.com.';
  return { expected: `a name outside of ${SERVICE_DOMAIN}, that of Services`, found, fix };
}

/** Whether a host name is one of the node itself at this cluster's domain. */
export const isOwnName = (name: string, domain: string, hostname: string | undefined): boolean =>
  ['localhost', hostname?.toLowerCase()].includes(withoutFinalDot(name).toLowerCase()) ||
  isOfCluster(name, domain);

/** A name that is only looked up: capital letters mean the same as small ones. */
export const isLookupName = (text: string): boolean =>
  text.length <= 253 && DNS_NAME.test(text.toLowerCase()) && !endsInNumber(text);

/** A host name or an address, without a port. */
export const isNtpSource = (text: string): boolean => isIP(text) !== 0 || isLookupName(text);

/** The relative form of an absolute domain. */
export function withoutFinalDot(domain: string): string {
  return domain.replace(/\.$/, '');
}
