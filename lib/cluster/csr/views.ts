import { X509Certificate } from 'node:crypto';
import { canonicalAddress } from '../../base/network/address.ts';
import type { Node } from '../../clients/kube/resources.ts';

/** What this host knows about itself, without asking the API. */
export interface HostView {
  /** The kernel's current host name, unless another one is pinned. */
  readonly nodeName: string;
  /** The persistent name: the pinned one, or that from `/etc/hostname`. */
  readonly staticHostName: string;
  /** Those addresses that the kubelet registers its node with, as far as the host has them now. */
  readonly nodeIps: readonly string[];
  /** SHA-256 of the kubelet's client certificate, as lower-case hex; undefined if it has none. */
  readonly clientCertificate: string | undefined;
}

/** What the API reports about this host's node. */
export interface NodeView {
  readonly name: string;
  /** Another one if the Node was deleted and registered again. */
  readonly uid?: string;
  readonly internalIps: readonly string[];
}

interface InterfaceAddress {
  readonly address: string;
  readonly internal: boolean;
}

/** The addresses of these interfaces, without those of the loopback interface. */
export function addressesOf(
  interfaces: readonly (readonly InterfaceAddress[] | undefined)[],
): ReadonlySet<string> {
  const entries = interfaces.flatMap((each) => each ?? []).filter(({ internal }) => !internal);
  return new Set(entries.map(({ address }) => canonicalAddress(address)));
}

/**
 * SHA-256 of the first certificate in the text, as the API server computes it. Undefined if there is
 * none: a file that is being replaced may be unreadable.
 */
export function fingerprintOf(pem: string | undefined): string | undefined {
  if (pem === undefined) return undefined;
  try {
    return new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();
  } catch {
    return undefined;
  }
}

/** A node writes its addresses itself, as many as it likes. */
const MOST_ADDRESSES = 256;

export function nodeView({ metadata, status }: Node): NodeView {
  const internal = (status?.addresses ?? [])
    .slice(0, MOST_ADDRESSES)
    .filter(({ type }) => type === 'InternalIP');
  return {
    name: metadata.name,
    ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
    internalIps: internal.map(({ address }) => canonicalAddress(address)),
  };
}
