import { isRecord, parseJson } from '../../base/json.ts';
import { unescaped, words } from './quoting.ts';
import { lines, type NamedValue, type Reader } from './settings.ts';

/** A value that is a secret because of its position in the file. */
const certain = (value: string): NamedValue => ['password', value];

/** The secrets of each row of words. */
const inRows = (secretsOf: (row: readonly string[]) => readonly (string | undefined)[]): Reader =>
  function* (text) {
    for (const line of lines(text)) {
      if (/^\s*[#;]/.test(line)) continue;
      for (const secret of secretsOf(words(line))) if (secret !== undefined) yield certain(secret);
    }
  };

/** pppd's chap-secrets and pap-secrets: client, server, secret. */
export const pppSecrets = inRows(([, , secret]) => [secret]);

/** chrony.keys and ntp.keys: number, type, key; the type is optional. */
export const chronyKeys = inRows(([number = '', type, key = type]) =>
  /^\d+$/.test(number) ? [key?.replace(/^(?:HEX|ASCII):/, '')] : [],
);

/** grub's user.cfg and grub.cfg: `password USER PASSWORD`. */
export const grub = inRows(([word, , password]) => (word === 'password' ? [password] : []));

/** Types of secrets in strongSwan and Libreswan; the secret follows the type. */
const IPSEC = /^:?(?:PSK|EAP|XAUTH|NTLM|RSA|ECDSA|BLISS|PRIV|P12|PKCS8|PIN)$/;
const KEY_FILE = /\.(?:pem|der|key|p12|pfx|crt)$/i;

/** ipsec.secrets: `: PSK "…"`, `carol : EAP "…"`, `: RSA file.pem "…"`; binary ones are `0s` and base64. */
export const ipsecSecrets = inRows((row) => {
  const keyword = row.findIndex((word) => IPSEC.test(word));
  const after = keyword === -1 ? [] : row.slice(keyword + 1);
  return after
    .filter((word) => !KEY_FILE.test(word) && !/^[%{}]/.test(word))
    .flatMap((word) => [word, ...(/^0[sxt]/.test(word) ? [word.slice(2)] : [])]);
});

/** PostgreSQL's .pgpass: the fifth of the colon-separated fields; `\` escapes a colon. */
export function* pgpass(text: string): Generator<NamedValue> {
  for (const line of lines(text)) {
    const fields = line.match(/(?:\\.|[^:\\]){1,1024}/g) ?? [];
    if (fields.length >= 5) yield certain(unescaped(fields.slice(4).join(':')));
  }
}

/** cloud-init's `chpasswd`: lines of `user:password` below it, as a list or a block of text. */
export function* chpasswd(text: string): Generator<NamedValue> {
  const sections = text.matchAll(/^([^\S\n]*)chpasswd:.*(?:\n(?:\1[^\S\n]+\S.*|[^\S\n]*))*/gm);
  for (const line of [...sections].flatMap(([section]) => lines(section))) {
    const [, password] = /^\s+(?:- {1,8})?["']?[\w.@-]{1,64}:(?!\s)(.+?)["']?\s*$/.exec(line) ?? [];
    if (password !== undefined) yield certain(password);
  }
}

/** Podman's secretsdata.json: a secret in base64 for each identifier. */
export function* podmanSecrets(text: string): Generator<NamedValue> {
  const data = parseJson(text);
  for (const value of Object.values(isRecord(data) ? data : {})) {
    if (typeof value === 'string') yield certain(Buffer.from(value, 'base64').toString('utf8'));
  }
}

/** A file with a single secret: a token, a systemd credential. */
export function* whole(text: string): Generator<NamedValue> {
  const value = text.trim();
  if (!value.includes('\n')) yield certain(value);
}
