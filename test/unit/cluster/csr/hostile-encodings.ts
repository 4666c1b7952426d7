import { encode, encodeText, TAGS } from '../../../../lib/cluster/csr/der.ts';
import {
  attribute,
  CN,
  craftedPem,
  dnsName,
  EXTENSIONS,
  extension,
  ipName,
  NAMES,
  namesOf,
  O,
  oid,
  type Parts,
  printable,
  rdn,
  subjectOf,
  subjectPart,
} from './crafted-request.ts';

/** A request of the node for its serving certificate, right but for its PKCS#10 part. */
export interface HostileEncoding {
  readonly title: string;
  readonly rule: 'request' | 'signature' | 'key' | 'subject' | 'extensions' | 'names';
  readonly parts?: Parts;
  /** Replaces the PEM. */
  readonly pem?: (right: string) => string;
}

const bmpString = (text: string) => encode(0x1e, Buffer.from(text, 'utf16le').swap16());
const teletexString = (text: string) => encodeText(0x14, text);

/** Requests that a parser may take for the right one, or whose certificate would be worth more. */
export function hostileEncodings(node: string, address: string): readonly HostileEncoding[] {
  const user = `system:node:${node}`;
  const group = rdn(subjectPart(O, printable('system:nodes')));
  const self = rdn(subjectPart(CN, printable(user)));
  const own = [dnsName(node), ipName(address)];
  const names = (title: string, ...values: Buffer[]): HostileEncoding => ({
    title,
    rule: 'names',
    parts: { names: namesOf(...values) },
  });
  const besides = (title: string, ...values: Buffer[]) => names(title, ...own, ...values);
  const subject = (title: string, ...rdns: Buffer[]): HostileEncoding => ({
    title,
    rule: 'subject',
    parts: { subject: subjectOf(...rdns) },
  });
  const more = (title: string, parts: Parts): HostileEncoding => ({
    title,
    rule: 'extensions',
    parts,
  });
  const mapped = Buffer.concat([Buffer.alloc(10), Buffer.of(255, 255), ipBytes(address)]);
  const otherNode = craftedPem('worker-0', '192.0.2.99');
  return [
    besides('localhost', dnsName('localhost')),
    besides('the API', dnsName('api-int.c.example.com')),
    besides('a Service', dnsName('kubernetes.default.svc')),
    besides('another host', dnsName('worker-0.example.com')),
    besides('the same name twice', dnsName(node)),
    besides('a name and a zero byte', dnsName(`${node}\0.evil.org`)),
    besides('the loopback address', ipName('127.0.0.1')),
    besides('the bridge of pods', ipName('10.128.0.1')),
    besides('a link-local address', ipName('169.254.0.1')),
    besides('the address of the API as a Service', ipName('172.30.0.1')),
    besides('an address of another host', ipName('192.0.2.99')),
    besides('the same address twice', ipName(address)),
    besides('the address as IPv6', ipName(mapped)),
    besides('an e-mail address', encodeText(0x81, 'root@example.com')),
    besides('a URI', encodeText(0x86, 'spiffe://cluster/ns/kube-system/sa/default')),
    besides(
      'a name of an unknown type',
      encode(
        0xa0,
        oid('1.3.6.1.4.1.311.20.2.3'),
        encode(0xa0, encodeText(TAGS.utf8String, 'root')),
      ),
    ),
    besides('a directory name', encode(0xa4, subjectOf(rdn(subjectPart(CN, printable('admin')))))),
    besides('a registered id', encode(0x88, Buffer.of(0x2a, 0x03))),
    names('addresses first', ipName(address), dnsName(node)),
    names('another name', dnsName('api-int.c.example.com'), ipName(address)),
    names('the name in capitals', dnsName(node.toUpperCase()), ipName(address)),
    names('a wildcard', dnsName(`*.${node}`), ipName(address)),
    names('a wildcard of everything', dnsName('*'), ipName(address)),
    names(
      'a wildcard of the domain',
      dnsName(`*.${node.split('.').slice(1).join('.')}`),
      ipName(address),
    ),
    names('no name', ipName(address)),
    names('no address', dnsName(node)),
    names('another address', dnsName(node), ipName('192.0.2.99')),
    {
      title: 'bytes after the names',
      rule: 'names',
      parts: { names: Buffer.concat([namesOf(...own), Buffer.of(0x05, 0x00)]) },
    },
    { title: 'no alternative names', rule: 'names', parts: { names: null } },
    subject('the name first', self, group),
    subject(
      'one set of both',
      rdn(subjectPart(CN, printable(user)), subjectPart(O, printable('system:nodes'))),
    ),
    subject('a second group', group, rdn(subjectPart(O, printable('system:masters'))), self),
    subject('the group twice', group, group, self),
    subject('another group', rdn(subjectPart(O, printable('system:masters'))), self),
    subject('no group', self),
    subject('a second name before', group, rdn(subjectPart(CN, printable('admin'))), self),
    subject(
      'a unit besides',
      group,
      rdn(subjectPart('2.5.4.11', printable('system:masters'))),
      self,
    ),
    subject('a serial number besides', group, self, rdn(subjectPart('2.5.4.5', printable('1')))),
    subject('an unknown attribute', group, self, rdn(subjectPart('1.2.3.4', printable('x')))),
    subject('a name of two-byte characters', group, rdn(subjectPart(CN, bmpString(user)))),
    subject('a group of two-byte characters', rdn(subjectPart(O, bmpString('system:nodes'))), self),
    subject('a teletex string', group, rdn(subjectPart(CN, teletexString(user)))),
    subject('a name that is no node', group, rdn(subjectPart(CN, printable('kubernetes')))),
    more('a certificate authority', {
      extensions: [
        extension('2.5.29.19', encode(TAGS.sequence, Buffer.of(0x01, 0x01, 0xff)), true),
      ],
    }),
    more('the right to sign certificates', {
      extensions: [extension('2.5.29.15', Buffer.of(0x03, 0x02, 0x02, 0x04), true)],
    }),
    more('any usage', {
      extensions: [extension('2.5.29.37', encode(TAGS.sequence, oid('2.5.29.37.0')))],
    }),
    more('an unknown extension', { extensions: [extension('1.2.3.4', Buffer.of(0x05, 0x00))] }),
    more('names of the issuer', { extensions: [extension('2.5.29.18', namesOf(...own))] }),
    more('critical names', { namesAreCritical: true }),
    more('a challenge password', {
      attributes: [attribute('1.2.840.113549.1.9.7', printable('secret'))],
    }),
    more('an unknown attribute of the request', {
      attributes: [attribute('1.3.6.1.4.1.311.13.2.3', encodeText(0x16, '10.0'))],
    }),
    more('a second set of extensions', {
      attributes: [
        attribute(EXTENSIONS, encode(TAGS.sequence, extension('1.2.3.5', Buffer.of(0x05, 0x00)))),
      ],
    }),
    more('two values of extensions', {
      names: namesOf(...own),
      attributes: [
        attribute(
          EXTENSIONS,
          encode(TAGS.sequence, extension('1.2.3.5', Buffer.of(0x05, 0x00))),
          encode(TAGS.sequence, extension(NAMES, namesOf(dnsName('evil.org')))),
        ),
      ],
    }),
    { title: 'a short RSA key', rule: 'key', parts: { key: 'RSA-1024' } },
    { title: 'an RSA key with exponent 3', rule: 'key', parts: { key: 'RSA-2048-3' } },
    { title: 'a short curve', rule: 'key', parts: { key: 'P-224' } },
    {
      title: 'ECDSA with SHA-1',
      rule: 'signature',
      parts: { signature: { hash: 'sha1', oid: '1.2.840.10045.4.1' } },
    },
    {
      title: 'RSA with SHA-1',
      rule: 'signature',
      parts: { key: 'RSA-2048', signature: { hash: 'sha1', oid: '1.2.840.113549.1.1.5' } },
    },
    { title: 'text before', rule: 'request', pem: (pem) => `Please approve.\n${pem}` },
    { title: 'text after', rule: 'request', pem: (pem) => `${pem}Thank you.\n` },
    { title: 'a second request after it', rule: 'request', pem: (pem) => pem + otherNode },
    {
      title: 'a header in the block',
      rule: 'request',
      pem: (pem) => pem.replace('REQUEST-----\n', 'REQUEST-----\nComment: x\n\n'),
    },
  ];
}

const ipBytes = (address: string) => Buffer.from(address.split('.').map(Number));
