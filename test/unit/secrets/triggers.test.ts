import t from 'tap';
import { redactorWith } from '../../../lib/secrets/redact/redactor.ts';
import { TRIGGERS, type Trigger, TriggerSearch } from '../../../lib/secrets/redact/triggers.ts';
import { redacted } from './streams.ts';

// A lot of work, possibly on a busy machine.

/** Must be removed from all lines below. */
const SECRET = 'Zq8mK2vW4tYxR6nB';
const key = (begin: string, end: string) => `${begin}\n${`${SECRET}/`.repeat(4)}\n${end}\n`;

/** Lines in which only one trigger finds the secret. They use no names or values of other rules. */
const LINES: readonly string[] = [
  // Private keys.
  key('-----BEGIN EC PRIVATE KEY-----', '-----END EC PRIVATE KEY-----'),
  key('-----BEGIN PGP PRIVATE KEY BLOCK-----', '-----END PGP PRIVATE KEY BLOCK-----'),
  `x=-----BEGIN%20PRIVATE%20KEY-----${SECRET}-----END%20PRIVATE%20KEY-----`,
  `x=-----BEGIN+PRIVATE+KEY-----${SECRET}-----END+PRIVATE+KEY-----`,
  // Multi-line Secrets of Kubernetes.
  `kind: Secret\ndata:\n  x: ${SECRET}\n`,
  `kind: ConfigMap\napiVersion: v1\ndata:\n  x: ${SECRET}\nkind: Secret\n`,
  `  "kind": "Secret",\n  "data": {\n    "x": "${SECRET}"\n  }\n`,
  `data:\n  x: ${SECRET}\nkind: Secret\n`,
  `"kind" : "Secret",\n"data" : {\n  "x" : "${SECRET}"\n}\n`,
  `'kind': 'Secret',\n'data': {\n  'x': '${SECRET}'\n}\n`,
  `{"data":{"x":"${SECRET}"},"kind":"Secret"}`,
  `{"stringData":{"x":"${SECRET}"}}`,
  // Assignments.
  `password=${SECRET}`,
  `passphrase=${SECRET}`,
  `db_pass => ${SECRET}`,
  `--db-pass ${SECRET}`,
  `dbPass=${SECRET}`,
  `dbPass: ${SECRET}`,
  `"dbPass" : "${SECRET}"`,
  `\\"dbPass\\" : \\"${SECRET}\\"`,
  `pwd=${SECRET}`,
  `pwd: ${SECRET}`,
  `"pwd" : "${SECRET}"`,
  `\\"pwd\\" : \\"${SECRET}\\"`,
  `<pwd>${SECRET}</pwd>`,
  `db_pwd => ${SECRET}`,
  `secret=${SECRET}`,
  `token=${SECRET}`,
  `credential=${SECRET}`,
  `auth=${SECRET}`,
  ...['api', 'shared', 'access', 'encryption'].flatMap((whose) =>
    ['', '-', '_', ' '].map((joint) => `${whose}${joint}key=${SECRET}`),
  ),
  ...['account', 'private'].flatMap((whose) =>
    ['', '-', '_'].map((joint) => `${whose}${joint}key=${SECRET}`),
  ),
  `client-key-data=${SECRET}`,
  `psk=${SECRET}`,
  `psk: ${SECRET}`,
  `"psk" : "${SECRET}"`,
  `\\"psk\\" : \\"${SECRET}\\"`,
  `'psk' : '${SECRET}'`,
  `<psk>${SECRET}</psk>`,
  `psk = ${SECRET}`,
  `wifi_psk := ${SECRET}`,
  `wep-key0=${SECRET}`,
  `wep_key0=${SECRET}`,
  `mka-cak=${SECRET}`,
  `mka_cak=${SECRET}`,
  `dockercfg=${SECRET}`,
  `cookie=${SECRET}`,
  `X-Amz-Signature=${SECRET}`,
  `x_amz_signature=${SECRET}`,
  `X-Goog-Signature=${SECRET}`,
  `x_goog_signature=${SECRET}`,
  `key1=${SECRET}`,
  `key2=${SECRET}`,
  `--certificate-key ${'0123456789abcdef'.repeat(4)}`,
  `certificateKey: ${'0123456789abcdef'.repeat(4)}`,
  `bindpw ${SECRET}`,
  `rootpw ${SECRET}`,
  `ldap_default_authtok = ${SECRET}`,
  // Shapes.
  `https://user:${SECRET}@host/path`,
  `https://${SECRET}@host/path`,
  `user:${SECRET}@tcp(db:3306)/x`,
  `user:${SECRET}@unix(/run/db)/x`,
  `sent Bearer ${SECRET}`,
  `sent Negotiate ${SECRET}`,
  ...['Basic ', 'Basic%20', 'basic+'].map(
    (scheme) => `sent ${scheme}${Buffer.from(`me:${SECRET}`).toString('base64')}`,
  ),
  `cookie: session=x; ${SECRET}`,
  ...[...'ahi0rljp461'].map(
    (third) => `got eyJ${third}${'A'.repeat(9)}.${SECRET}.${'B'.repeat(9)}`,
  ),
  `got sha256~${SECRET}AAAA`,
  `got AKIA${SECRET.toUpperCase()}`,
  `got ASIA${SECRET.toUpperCase()}`,
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_', 'glpat-', 'dckr_pat_'].map(
    (prefix) => `got ${prefix}${SECRET}AAAA`,
  ),
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-'].map((prefix) => `got ${prefix}${SECRET}`),
  `https://hooks.slack.com/services/T12345678/B12345678/${SECRET}`,
  `got npm_${SECRET}${'A'.repeat(20)}`,
  `got pypi-${SECRET}${'-A'.repeat(20)}`,
  `got hvs.${SECRET}AAAA`,
  `got hvb.${SECRET}AAAA`,
  `got AIza${SECRET}${'-A'.repeat(9)}B`,
  `got ya29.${SECRET}AAAA`,
  `got AGE-SECRET-KEY-1${SECRET.toUpperCase()}${'Q'.repeat(42)}`,
  ...['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'].map((prefix) => `got ${prefix}${SECRET}`),
  `K10x::server:${SECRET}`,
  `K10x::node:${SECRET}`,
  `https://blob/x?sig=${SECRET}`,
  `https://blob/x?a=b&sig=${SECRET}`,
  `https://blob/x?a=b&amp;sig=${SECRET}`,
  `https://blob/x?a=b\\u0026sig=${SECRET}`,
  ...['key = ', 'key: ', 'key=', 'key":"', 'key": "'].map(
    (name) => `[client.admin] "${name}AQ${SECRET}${'A'.repeat(20)}=="`,
  ),
  ...['$1$', '$5$', '$6$', '$y$j', '$gy$', '$7$', '$2a$', '$2b$', '$2y$', '$apr1$'].map(
    (prefix) => `core:${prefix}salt$${SECRET}:1`,
  ),
  `source data:,${SECRET}`,
  `source data:;base64,${SECRET}`,
  `source data:text/plain,${SECRET}`,
  `source data:application/json,${SECRET}`,
  // Recognized by their own form.
  'join token abcdef.0123456789abcdef',
  'the kubeadmin user has A1b2C-d3E4f-G5h6I-j7K8l',
  'log in with password A1b2C-d3E4f-G5h6I-j7K8l',
  ...['"kty":"EC"', '\\"kty\\":\\"EC\\"'].map((type) => {
    const quote = type.slice(0, type.indexOf('k'));
    return `{${type},${quote}d${quote}:${quote}${SECRET}AAAA${quote}}`;
  }),
  `curl -u me:${SECRET} https://host`,
  `curl --user me:${SECRET} https://host`,
  `curl --proxy-user me:${SECRET} https://host`,
  `skopeo --src-creds me:${SECRET} x`,
  `skopeo --dest-creds me:${SECRET} x`,
  `skopeo copy --creds me:${SECRET} x`,
  `sshpass -p ${SECRET} ssh host`,
  `ipmitool -H bmc -P ${SECRET} power on`,
  'openssl rsa -passin pass:correcthorse',
  'openssl rsa -passout pass:correcthorse',
];

const OTHERS = ['0123456789abcdef', 'd3E4f-G5h6I', 'correcthorse'];
const FORMS = [SECRET, SECRET.toUpperCase(), ...OTHERS].concat(
  Buffer.from(`me:${SECRET}`).toString('base64'),
);

/** Whether the line still contains the secret if only some triggers are active. */
async function survives(line: string, triggers: readonly Trigger[]): Promise<boolean> {
  const marks = { of: () => '<redacted>' };
  const { text } = redactorWith(marks, [], new TriggerSearch(triggers));
  const output = (await redacted(text, Buffer.from(line))).toString();
  return FORMS.some((form) => output.includes(form));
}

t.test('the secret in every line is found', async (t) => {
  for (const line of LINES) {
    t.ok(await survives(line, []), `without triggers: ${line}`);
    t.notOk(await survives(line, TRIGGERS), line);
  }
});

t.test('without any one trigger a secret survives', async (t) => {
  for (const trigger of TRIGGERS) {
    const { text, rule } = trigger;
    const others = TRIGGERS.filter((each) => each !== trigger);
    const lines = LINES.filter((line) => line.toLowerCase().includes(text.toLowerCase()));
    let isNeeded = false;
    for (const line of lines) isNeeded ||= await survives(line, others);
    const isPattern = typeof rule === 'object' && 'find' in rule;
    t.ok(isNeeded, `${isPattern ? rule.find.source.slice(0, 60) : ''}: ${text}`);
  }
});
