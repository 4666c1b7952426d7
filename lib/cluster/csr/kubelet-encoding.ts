import { addressBytes } from '../../base/network/address.ts';
import { encode, encodeText, TAGS } from './der.ts';

/**
 * The parts of a request as a kubelet encodes them (crypto/x509 of Go). A request is compared with
 * them as bytes: whatever a parser makes of other bytes does not matter then.
 */

const oid = (hex: string) => encode(TAGS.oid, Buffer.from(hex, 'hex'));
const ORGANIZATION = oid('55040a');
const COMMON_NAME = oid('550403');
const EXTENSION_REQUEST = oid('2a864886f70d01090e');
const ALTERNATIVE_NAMES = oid('551d11');
/** Context-specific tags: of the attributes, and of DNS names and addresses among the names. */
const [ATTRIBUTES, DNS_NAME, IP_ADDRESS] = [0xa0, 0x82, 0x87];

/** With the group first. Go uses the first kind of string; the agents of a worker use the second. */
export function encodedSubjects(organization: string, commonName: string): Buffer[] {
  return [TAGS.printableString, TAGS.utf8String].map((kind) => {
    const part = (type: Buffer, value: string) =>
      encode(TAGS.set, encode(TAGS.sequence, type, encodeText(kind, value)));
    return encode(TAGS.sequence, part(ORGANIZATION, organization), part(COMMON_NAME, commonName));
  });
}

/**
 * The contents of the extension with the alternative names. The kubelet sorts each kind as text
 * (pkg/kubelet/certificate/kubelet.go, addressesToHostnamesAndIPs).
 *
 * @param addresses in canonical form
 */
export function encodedNames(dnsNames: readonly string[], addresses: readonly string[]): Buffer {
  return encode(
    TAGS.sequence,
    ...dnsNames.toSorted().map((name) => encodeText(DNS_NAME, name)),
    ...addresses.toSorted().map((address) => encode(IP_ADDRESS, addressBytes(address))),
  );
}

/** All attributes of a request: alternative names with these contents, or nothing at all. */
export function encodedAttributes(names: Buffer | undefined): Buffer {
  if (names === undefined) return encode(ATTRIBUTES);
  const extension = encode(TAGS.sequence, ALTERNATIVE_NAMES, encode(TAGS.octetString, names));
  const extensions = encode(TAGS.sequence, extension);
  return encode(ATTRIBUTES, encode(TAGS.sequence, EXTENSION_REQUEST, encode(TAGS.set, extensions)));
}
