import t from 'tap';
import { siteNotices } from '../../../cli/site/site-notices.ts';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { parseSiteConfig } from '../../../lib/config/site-config/read.ts';
import { NOW, SITE } from '../relocation/site-volume/volumes.ts';

const DAY_MS = 86_400_000;
const notices = (more: string, isEncrypted = false, files = new Map<string, Uint8Array>()) => {
  const config = parseSiteConfig(SITE + more, 'site-config.yaml', { files, now: NOW });
  return siteNotices({ config, files: new Map(), skipped: [], notRead: [] }, isEncrypted, NOW);
};
const about = (what: RegExp, all: readonly string[]) => all.filter((each) => what.test(each));

const SECRETS: readonly (readonly [what: string, yaml: string, said: readonly string[]])[] = [
  ['nothing', '', []],
  ['a proxy without a password', 'proxy: {httpProxy: "http://proxy.example.com:3128"}\n', []],
  ['a user without a password', 'proxy: {httpProxy: "http://user@proxy.example.com:3128"}\n', []],
  [
    'both proxies',
    'proxy: {httpProxy: "http://u:hidden@proxy.example.com:3128", httpsProxy: "http://u:hidden@b.example.com:3128"}\n',
    ['the password in proxy.httpProxy', 'the password in proxy.httpsProxy'],
  ],
  [
    'the second one',
    'proxy: {httpProxy: "http://a.example.com:3128", httpsProxy: "http://u:hidden@b.example.com:3128"}\n',
    ['the password in proxy.httpsProxy'],
  ],
  [
    '802.1X',
    `raw_nm_state_config:
  interfaces:
    - name: eno1
      type: ethernet
      802.1x:
        identity: node
        eap-methods: [tls]
        client-cert: /etc/pki/8021x.crt
        private-key: /etc/pki/8021x.key
        private-key-password: hidden
        password: hidden
`,
    [
      'the secret in interfaces[0]["802.1x"].private-key-password',
      'the secret in interfaces[0]["802.1x"].password',
    ],
  ],
  [
    'a pull secret',
    'pull_secret: \'{"auths":{"quay.io":{"auth":"aGlkZGVuOmhpZGRlbg=="}}}\'\n',
    ['the pull secret'],
  ],
];

for (const [what, yaml, said] of SECRETS) {
  t.test(`secrets of ${what}`, async (t) => {
    const all = notices(yaml);
    const expected = said.map((secret) => `${secret} is not encrypted on the medium`);
    t.same(about(/not encrypted/, all), expected);
    t.notMatch(all.join('\n'), /hidden|aGlk/);
    t.same(about(/not encrypted/, notices(yaml, true)), []);
  });
}

t.test('a certificate that nearly ends, of the leaf or an issuer', async (t) => {
  const said = async (leafDays: number, issuerDays: number) => {
    const authority = await createAuthority('site', issuerDays, NOW, NOW);
    const profile = { subject: { commonName: 'api' }, dnsNames: ['api.shop.example.com'] };
    const { certificate, key } = await issueLeaf(
      authority,
      { ...profile, usage: 'server', lifetimeDays: leafDays },
      NOW,
    );
    const files = new Map([
      ['a.crt', Buffer.from(certificate + authority.certificate)],
      ['a.key', Buffer.from(key)],
    ]);
    const yaml = 'certificates:\n  api: {certificate: a.crt, key: a.key}\n';
    return about(/nothing renews/, notices(yaml, true, files));
  };
  t.same(await said(31, 100), []);
  const soon = new Date(NOW.getTime() + 29 * DAY_MS).toISOString().slice(0, 10);
  const expected = [
    `certificates.api.certificate, or that of an issuer, ends on ${soon}, in 29 days: nothing renews it`,
  ];
  t.same(await said(29, 100), expected);
  t.same(await said(29, 29), expected);
});

t.test('a trust bundle by which nothing is trusted', async (t) => {
  const authority = await createAuthority('site', 1000, NOW, NOW);
  const old = await createAuthority('old', 10, new Date(NOW.getTime() - 20 * DAY_MS));
  const profile = { subject: { commonName: 'registry' }, dnsNames: ['r.example.com'] };
  const server = await issueLeaf(authority, { ...profile, usage: 'server', lifetimeDays: 9 }, NOW);
  const said = (...bundle: readonly string[]) =>
    about(
      /of additionalTrustBundle/,
      notices(`additionalTrustBundle: {userCaBundle: ${JSON.stringify(bundle.join(''))}}\n`),
    );
  t.same(said(authority.certificate), []);
  t.match(said(authority.certificate, server.certificate), [
    /^the certificate CN=registry of .* is not that of an authority/,
  ]);
  t.match(said(old.certificate), [/^the certificate CN=old of .* expired on /]);
});
