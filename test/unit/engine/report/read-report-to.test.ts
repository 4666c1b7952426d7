import t from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { hasSecret, parseReportTo } from '../../../../lib/engine/report/read-report-to.ts';

const KIND = { apiVersion: 'sno-agents/v1', kind: 'ReportTo' };

async function hub() {
  const authority = await createAuthority('hub');
  const subject = { commonName: 'sno:site:shops:berlin', organizations: ['sno:sites'] };
  const client = await issueLeaf(authority, { subject, usage: 'client' });
  return {
    server: 'https://hub.example.com:6443',
    certificateAuthority: authority.certificate,
    namespace: 'shops',
    name: 'berlin',
    ...client,
  };
}

const parse = (to: object) =>
  parseReportTo(JSON.stringify({ ...KIND, ...to }), 'site/report-to.json');

t.test('a hub and a URL are read', async (t) => {
  const good = await hub();
  t.match(parse({ hub: good }), { hub: { name: 'berlin' } });
  t.match(parse({ url: 'https://x.example/r', token: 'abc' }), { token: 'abc' });
});

t.test('each fault names the file and the field, and quotes nothing', async (t) => {
  const good = await hub();
  const other = await hub();
  const SECRET = 'do not show this';
  const cases: readonly [object, RegExp][] = [
    [{ hub: { ...good, server: 'http://hub.example.com' } }, /hub\.server/],
    [{ hub: { ...good, server: `https://me:${'pw'}@hub.example.com` } }, /hub\.server: .*no user/],
    [{ hub: { ...good, name: '../other' } }, /hub\.name/],
    [{ hub: { ...good, key: other.key } }, /hub\.key: expected the key of hub\.certificate/],
    [{ hub: { ...good, key: `-----BEGIN ${SECRET}` } }, /hub\.key/],
    [{ hub: { ...good, certificateAuthority: '-----BEGIN x' } }, /hub\.certificateAuthority/],
    [{ hub: { ...good, more: SECRET } }, /hub.*"?more/],
    [{ hub: good, url: 'https://x.example' }, /url/],
    [{ url: 'ftp://x.example' }, /url/],
    [{ url: 'https://x.example', token: `${SECRET}\n` }, /token/],
    [{}, /url/],
  ];
  for (const [to, field] of cases) {
    try {
      parse(to);
      t.fail(`${field} is refused`);
    } catch (error) {
      t.match(error, { kind: 'usage', message: /^site\/report-to\.json cannot be used; / });
      t.match(error, { message: field });
      t.notMatch(error, { message: SECRET });
    }
  }
  t.throws(() => parseReportTo('{', 'f'), { message: /found no JSON/ });
});

t.test('what must not be read by others', async (t) => {
  t.equal(hasSecret(JSON.stringify({ url: 'https://x.example' })), false);
  t.equal(hasSecret(JSON.stringify({ url: 'https://x.example', token: 'a' })), true);
  t.equal(hasSecret(JSON.stringify({ hub: {} })), true);
  t.equal(hasSecret('{'), true);
});
