/** Certificates with some bytes of theirs changed: what Go would not read, and what nothing reads. */
import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { createAuthority } from '../../../lab/certificates/signed-now.ts';
import { unreadByGo } from '../../../lib/pki/read-by-go.ts';

const { certificate } = await createAuthority('site');
const { raw } = new X509Certificate(certificate);

/** The same certificate with other bytes in place of some, all in hex. */
function changed(from: string, to: string): X509Certificate {
  const hex = raw.toString('hex');
  if (!hex.includes(from)) throw new Error(`no ${from} in ${hex}`);
  return new X509Certificate(Buffer.from(hex.replaceAll(from, to), 'hex'));
}

t.test('what Go does not read', async (t) => {
  t.equal(unreadByGo(new X509Certificate(certificate)), undefined);
  // The first byte of the number, behind the version.
  const [number = ''] = /a003020102021[01]../.exec(raw.toString('hex')) ?? [];
  t.match(unreadByGo(changed(number, `${number.slice(0, -2)}81`)), /negative/);
  // The name of the curve, P-256, in the key.
  const [named, other] = [
    '06072a8648ce3d020106082a8648ce3d030107',
    '06072a8648ce3d020106082a8648ce3d030177',
  ];
  t.match(unreadByGo(changed(named, other)), /a key (?:that cannot be read|on the curve)/);
  // The algorithm of the signature: by SHA-224 in place of SHA-256.
  const bySha224 = changed('06082a8648ce3d040302', '06082a8648ce3d040301');
  t.match(unreadByGo(bySha224, false), /a signature by ecdsa-with-SHA224/);
  t.equal(unreadByGo(bySha224, true), undefined, 'nobody verifies that of an anchor');
});
