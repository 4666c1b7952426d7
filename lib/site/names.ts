import { isIP } from 'node:net';

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';

/** An RFC 1123 label. */
export const DNS_LABEL = new RegExp(`^${LABEL}$`);
/** An RFC 1123 subdomain; its length is checked separately. */
export const DNS_NAME = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
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

/** A valid name for a node. */
export function isUsableHostname(text: string): boolean {
  if (text.length > LONGEST_HOSTNAME || !DNS_NAME.test(text)) return false;
  return text !== 'localhost' && !text.startsWith('localhost.');
}

/** A host name or an address, without a port. */
export function isNtpSource(text: string): boolean {
  return isIP(text) !== 0 || (text.length <= 253 && DNS_NAME.test(text) && !/^[\d.]+$/.test(text));
}

/** The relative form of an absolute domain. */
export function withoutFinalDot(domain: string): string {
  return domain.replace(/\.$/, '');
}
