import { isRecord, parseJson } from '../../base/json.ts';
import { unescaped, words } from './quoting.ts';
import { lines, type NamedValue } from './settings.ts';

/** A value that is a secret because of its position in the file. */
const certain = (value: string): NamedValue => ['password', value];

const rows = (text: string): string[][] =>
  lines(text)
    .filter((line) => !/^\s*[#;]/.test(line))
    .map(words);

/** .netrc, and apt's auth.conf: the words after `password` and `account`. */
export function* netrc(text: string): Generator<NamedValue> {
  const all = rows(text).flat();
  for (const [index, word] of all.entries()) {
    const before = all[index - 1];
    if (before === 'password' || before === 'account') yield certain(word);
  }
}

/** PostgreSQL's .pgpass: the fifth of the colon-separated fields; `\` escapes a colon. */
export function* pgpass(text: string): Generator<NamedValue> {
  for (const line of lines(text)) {
    const fields = line.match(/(?:\\.|[^:\\]){1,1024}/g) ?? [];
    if (fields.length >= 5) yield certain(unescaped(fields.slice(4).join(':')));
  }
}

/** The second field of /etc/shadow, gshadow and htpasswd files. */
export function* hashes(text: string): Generator<NamedValue> {
  for (const line of lines(text)) yield certain((line.split(':')[1] ?? '').replace(/^[!*]+/, ''));
}

/** Types of secrets in strongSwan and Libreswan; the secret follows the type. */
const IPSEC = /^(?:PSK|EAP|XAUTH|NTLM|RSA|ECDSA|BLISS|PRIV|P12|PKCS8|PIN)$/;
const KEY_FILE = /\.(?:pem|der|key|p12|pfx|crt)$/i;
/** Private numbers of an RSA key. */
const NUMBER = /\b(?:PrivateExponent|Prime[12]|Exponent[12]|Coefficient):\s{0,8}(0x[0-9a-fA-F]+)/g;

/** ipsec.secrets: `: PSK "…"`, `carol : EAP "…"`, `: RSA file.pem "…"`; binary ones are `0s` and base64. */
export function* ipsecSecrets(text: string): Generator<NamedValue> {
  for (const row of rows(text)) {
    const keyword = row.findIndex((word) => IPSEC.test(word.replace(/^:/, '')));
    if (keyword === -1) continue;
    for (const word of row.slice(keyword + 1)) {
      if (KEY_FILE.test(word) || /^[%{}]/.test(word)) continue;
      yield certain(word);
      if (/^0[sxt]/.test(word)) yield certain(word.slice(2));
    }
  }
  for (const [, number = ''] of text.matchAll(NUMBER)) yield certain(number);
}

/** pppd's chap-secrets and pap-secrets: client, server, secret. */
export function* pppSecrets(text: string): Generator<NamedValue> {
  for (const row of rows(text)) yield certain(row[2] ?? '');
}

/** chrony.keys and ntp.keys: number, type, key; the type is optional. */
export function* chronyKeys(text: string): Generator<NamedValue> {
  for (const row of rows(text)) {
    if (/^\d+$/.test(row[0] ?? ''))
      yield certain((row[2] ?? row[1] ?? '').replace(/^(?:HEX|ASCII):/, ''));
  }
}

/** Ends a directive. */
const DIRECTIVE_END = /[;{}]/;

/** `secret "…";` of BIND, `auth_pass …` of keepalived, `password …` of others: a name followed by its value. */
export function* directives(text: string): Generator<NamedValue> {
  for (const line of lines(text)) {
    if (/^\s*(?:#|\/\/|!)/.test(line)) continue;
    const all = words(line);
    for (const [index, word] of all.entries()) {
      const name = all[index - 1];
      if (name !== undefined) yield [name, word.split(DIRECTIVE_END)[0] ?? ''];
    }
    for (const [, name = '', value = ''] of line.matchAll(QUOTED)) yield [name, value];
  }
}

const QUOTED = /\b(?:(\w{1,64})\s{1,8})"([^"]{1,1024})"/g;

/** grub's user.cfg and grub.cfg: hashes, and `password USER PASSWORD`. */
export function* grub(text: string): Generator<NamedValue> {
  for (const [hash] of text.matchAll(/\bgrub\.pbkdf2\.[\w.]{16,4096}/g)) yield certain(hash);
  for (const row of rows(text)) if (row[0] === 'password') yield certain(row[2] ?? '');
}

/** cloud-init's `chpasswd`: lines of `user:password` below it, as a list or a block of text. */
export function* chpasswd(text: string): Generator<NamedValue> {
  let column = -1;
  for (const line of lines(text)) {
    const indent = line.search(/\S/);
    if (indent === -1) continue;
    if (column >= 0 && indent > column) {
      const value = /^\s*(?:-\s{1,8})?["']?[\w.@-]{1,64}:(?!\s)(?<password>.+)$/.exec(line)?.groups
        ?.password;
      if (value !== undefined) yield certain(value.replace(/["']\s*$/, '').trimEnd());
    } else {
      column = /^\s*chpasswd:/.test(line) ? indent : -1;
    }
  }
}

/** The kernel command line: passwords in `iscsi:USER:PASSWORD:USER:PASSWORD@...`, one for each direction. */
export function* kernelCommandLine(text: string): Generator<NamedValue> {
  for (const word of words(text)) {
    const credentials =
      /(?:^|=)iscsi:(?<all>[^@\s]{1,1024})@/.exec(word)?.groups?.all?.split(':') ?? [];
    for (const [index, part] of credentials.entries()) if (index % 2 === 1) yield certain(part);
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
