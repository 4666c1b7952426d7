import t from 'tap';
import { elementsOf } from '../../../../lib/cluster/csr/der.ts';
import { judge } from '../../../../lib/cluster/csr/judge.ts';
import { readRequestedCertificate } from '../../../../lib/cluster/csr/requested-certificate.ts';
import { CN, craftedPem, O, printable, rdn, subjectOf, subjectPart } from './crafted-request.ts';
import { hostileEncodings } from './hostile-encodings.ts';
import { host, node, now, signingRequest } from './requests.ts';

const own = [host.nodeName, '192.0.2.10'] as const;
const view = { host, node };

t.test('what a kubelet sends is approved', async (t) => {
  for (const key of ['P-256', 'RSA-2048'] as const) {
    const csr = await signingRequest({ pem: () => craftedPem(...own, { key }) });
    t.same(judge(csr, view, now), { verdict: 'approve' }, key);
  }
});

t.test('any other encoding is left pending', async (t) => {
  for (const { title, rule, parts, pem = (right: string) => right } of hostileEncodings(...own)) {
    const csr = await signingRequest({ pem: () => pem(craftedPem(...own, parts)) });
    t.match(judge(csr, view, now), { verdict: 'leave', rule }, title);
  }
});

t.test('the explanation says when only the encoding differs', async (t) => {
  const name = encodeBmp(`system:node:${host.nodeName}`);
  const text = (explained: object) => ('explanation' in explained ? explained.explanation : '');
  const subject = subjectOf(
    rdn(subjectPart(O, Buffer.concat([Buffer.of(0x14, 12), Buffer.from('system:nodes')]))),
    rdn(subjectPart(CN, printable(`system:node:${host.nodeName}`))),
  );
  const csr = await signingRequest({ pem: () => craftedPem(...own, { subject }) });
  t.match(text(judge(csr, view, now)), /in another encoding than a kubelet's$/);
  const other = subjectOf(rdn(subjectPart(CN, name)));
  const unlike = await signingRequest({ pem: () => craftedPem(...own, { subject: other }) });
  t.match(text(judge(unlike, view, now)), /; found CN=/);
});

t.test('only DER is read', async (t) => {
  t.same(
    elementsOf(Buffer.from('3003020101040100', 'hex')).map(({ tag, contents }) => [
      tag,
      contents.toString('hex'),
    ]),
    [
      [0x30, '020101'],
      [0x04, '00'],
    ],
  );
  const long = Buffer.concat([Buffer.from('04820100', 'hex'), Buffer.alloc(256)]);
  t.equal(elementsOf(long)[0]?.contents.length, 256);
  for (const [title, hex] of [
    ['a length in more bytes than needed', `048105${'00'.repeat(5)}`],
    ['a length with a leading zero', `04820005${'00'.repeat(5)}`],
    ['an indefinite length', '3080020101000000'],
    ['a length of five bytes', '04850000000001ff'],
    ['less than its length', '0405aabb'],
    ['no length', '04'],
    ['a length that is cut off', '0482'],
    ['a tag of several bytes', '1f810100'],
  ] as const) {
    t.throws(() => elementsOf(Buffer.from(hex, 'hex')), Error, title);
  }
});

t.test('a request of another structure is unreadable', async (t) => {
  const right = craftedPem(...own);
  const der = Buffer.from(right.replaceAll(/-----.*-----/g, ''), 'base64');
  const pemOf = (bytes: Buffer) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  t.equal(readRequestedCertificate(pemOf(der)).signature(), 'valid');
  for (const [title, bytes] of [
    ['bytes after it', Buffer.concat([der, Buffer.of(5, 0)])],
    ['cut off', der.subarray(0, -1)],
    ['nothing', Buffer.alloc(0)],
    ['another type', Buffer.concat([Buffer.of(0x31), der.subarray(1)])],
  ] as const) {
    t.throws(() => readRequestedCertificate(pemOf(bytes)), Error, title);
  }
  const changed = Buffer.from(der);
  changed.writeUInt8((changed.at(-1) ?? 0) ^ 1, changed.length - 1);
  t.equal(readRequestedCertificate(pemOf(changed)).signature(), 'invalid');
});

function encodeBmp(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf16le').swap16();
  return Buffer.concat([Buffer.of(0x1e, bytes.length), bytes]);
}
