import { isIP } from 'node:net';

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const LABEL_ONLY = new RegExp(`^${LABEL}$`);
const SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);

/** The longest name that is put before the cluster's domain. */
const LONGEST_PREFIX = 'console-openshift-console.apps.'.length;

/** An RFC 1123 label. */
export function isLabel(text: string): boolean {
  return LABEL_ONLY.test(text);
}

/** An RFC 1123 subdomain, short enough that a cluster's names fit before it. */
export function isSubdomain(text: string): boolean {
  return text.length <= 253 - 64 - LONGEST_PREFIX && SUBDOMAIN.test(text);
}

/** An RFC 1123 name that can be a node's: Linux takes 64 characters, a label 63; never localhost. */
export function isUsableHostname(text: string): boolean {
  if (text.length > 63 || !SUBDOMAIN.test(text)) return false;
  return text !== 'localhost' && !text.startsWith('localhost.');
}

/** A host name or an address, without a port. */
export function isNtpSource(text: string): boolean {
  return isIP(text) !== 0 || (text.length <= 253 && SUBDOMAIN.test(text) && !/^[\d.]+$/.test(text));
}
