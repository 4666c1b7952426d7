/** PEM texts of others: what is found in them, in a time that grows with their length. */
import t from 'tap';
import { createAuthority } from '../../../lab/certificates/signed-now.ts';
import { certificatesOf, trustBundleProblem } from '../../../lib/config/site/trust-bundle.ts';
import { certificatesIn, withoutCertificates } from '../../../lib/pki/certificate.ts';

const { certificate } = await createAuthority('one');
const other = (await createAuthority('other')).certificate;

t.test('certificates among other text', async (t) => {
  const text = `# a comment - with dashes\n${certificate}between\n${other}after\n`;
  t.same(certificatesIn(text), [certificate, other]);
  t.equal(withoutCertificates(text), '# a comment - with dashes\nbetween\nafter\n');
  t.equal(trustBundleProblem(text), undefined);
  t.equal(certificatesOf(text).length, 2);
});

t.test('a BEGIN line without its END line begins none', async (t) => {
  const begin = '-----BEGIN CERTIFICATE-----\n';
  t.same(certificatesIn(`${begin}AAAA\n${certificate}`), [certificate]);
  t.match(trustBundleProblem(`${begin}AAAA\n${certificate}`), { found: /without its END/ });
  // The square of 16 MiB would take days; the test ends by its own limit then.
  const many = begin.repeat(600_000);
  t.same(certificatesIn(many), []);
  t.match(trustBundleProblem(many), { found: /without its END/ });
});
