import { ALPHANUMERIC, LOWER, type SeededRandom } from './random.ts';

/** A text with one secret in it, and what it was made of. */
export interface Combination {
  readonly text: string;
  readonly secret: string;
  readonly recipe: string;
}

type Write = (name: string, secret: string) => string;

const HEX = '0123456789abcdef';
const SYMBOLS = '!#%^*+=~@$';

const SECRETS: readonly (readonly [name: string, make: (random: SeededRandom) => string])[] = [
  ['letters and digits', (random) => random.text(16)],
  ['short', (random) => random.text(9)],
  ['lower case', (random) => random.text(14, LOWER)],
  ['hex', (random) => random.text(40, HEX)],
  ['base64', (random) => random.bytes(30).toString('base64')],
  ['UUID', (random) => [8, 4, 4, 4, 12].map((length) => random.text(length, HEX)).join('-')],
  ['symbols', (random) => `${random.text(7)}${SYMBOLS[random.integer(0, 10)]}${random.text(6)}`],
];

const NAMES = [
  'password db_password DB_PASSWORD_NEW passwords password1 adminPassword passwd dbPass passphrase',
  'TOKEN_VALUE access_token apiToken client_secret SECRET_ID secretValue CLIENT_SECRET_2 MASTER_KEY',
  'FERNET_KEY UNSEAL_KEY apiKey encryption_key aws_secret_access_key signing-key rootPwd db_credentials',
].flatMap((line) => line.split(' '));

const json = (value: unknown) => JSON.stringify(value);
const escaped = (text: string) => json(text).slice(1, -1);
const entities = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
const hexed = (text: string, write: (code: string) => string) =>
  text.replaceAll('"', write('22')).replaceAll("'", write('27'));
const flag = (name: string) => name.toLowerCase().replaceAll('_', '-');

/** In which formats a name and its secret are written. */
export const FORMATS: Readonly<Record<string, Write>> = {
  shell: (n, s) => `${n}=${s}`,
  export: (n, s) => `export ${n}="${s}"`,
  ini: (n, s) => `${n} = ${s}`,
  colon: (n, s) => `${n}: ${s}`,
  yaml: (n, s) => `database:\n  ${n}: "${s}"\n  port: 5432`,
  'yaml, single quotes': (n, s) => `- ${n}: '${s}'`,
  'yaml, below': (n, s) => `${n}:\n  ${s}\nport: 1`,
  'yaml, block': (n, s) => `${n}: |\n  ${s}\nport: 1`,
  'yaml, list': (n, s) => `${n}:\n- ${s}\nport: 1`,
  variable: (n, s) => `- name: ${n}\n  value: ${s}`,
  json: (n, s) => json({ host: 'db', [n]: s, port: 5432 }),
  'json, pretty': (n, s) => JSON.stringify({ host: 'db', [n]: s }, null, 2),
  'json, escaped': (n, s) => `"config": "${escaped(json({ host: 'db', [n]: s, port: 1 }))}"`,
  'json, escaped twice': (n, s) => `"a": "${escaped(escaped(json({ [n]: s })))}"`,
  'json, \\u0022': (n, s) => hexed(json({ host: 'db', [n]: s }), (code) => `\\u00${code}`),
  'json, \\x22': (n, s) => hexed(json({ host: 'db', [n]: s }), (code) => `\\x${code}`),
  'json, &quot;': (n, s) => entities(json({ host: 'db', [n]: s })),
  'json, &#34;': (n, s) => json({ host: 'db', [n]: s }).replaceAll('"', '&#34;'),
  'json, percent': (n, s) => `GET /x?q=${encodeURIComponent(json({ [n]: s }))} 200`,
  'json, nested value': (n, s) => json({ [n]: { sensitive: true, value: s } }),
  'json, pair': (n, s) => json([n, s]),
  'json, default': (n, s) => json({ name: n, default: s }),
  'json, list': (n, s) => json({ [n]: [s] }),
  'json, name and value': (n, s) => JSON.stringify([{ name: n, value: s }], null, 2),
  'json, arguments': (n, s) => json(['app', `--${flag(n)}`, s]),
  xml: (n, s) => `<db><${n}>${s}</${n}></db>`,
  'xml, attribute': (n, s) => `<db host="x" ${n}="${s}"/>`,
  'xml, CDATA': (n, s) => `<${n}><![CDATA[${s}]]></${n}>`,
  'xml, named': (n, s) => `<property name="${n}" value="${s}"/>`,
  'xml, below': (n, s) => `<property>\n  <name>${n}</name>\n  <value>${s}</value>\n</property>`,
  'xml, escaped': (n, s) => `&lt;${n}&gt;${s}&lt;/${n}&gt;`,
  plist: (n, s) => `<key>${n}</key>\n<string>${s}</string>`,
  php: (n, s) => `'host' => 'db', '${n}' => '${s}',`,
  'php, define': (n, s) => `define('${n}', '${s}');`,
  'php, dump': (n, s) => `["${n}"]=>\n  string(${s.length}) "${s}"`,
  ruby: (n, s) => `{:host=>"db", :${n}=>"${s}"}`,
  python: (n, s) => `{'host': 'db', '${n}': '${s}'}`,
  'python, bytes': (n, s) => `Config(${n}=b'${s}', port=1)`,
  rust: (n, s) => `Config { host: "db", ${n}: Some("${s}") }`,
  go: (n, s) => `{Host:db ${n}:${s} Port:5432}`,
  'go, source': (n, s) => `&app.Config{Host:"db", ${n}:"${s}", Port:5432}`,
  'go, list': (n, s) => `Config{${n}:[]string{"${s}"}}`,
  'go, header': (n, s) => `map[Accept:[*/*] ${n}:[${s}]]`,
  terraform: (n, s) => `~ ${n} = "old" -> "${s}"`,
  diff: (n, s) => `-  ${n}: old\n+  ${n}: ${s}`,
  'flag, joined': (n, s) => `/usr/bin/app --host db --${flag(n)}=${s} --port 1`,
  'flag, apart': (n, s) => `/usr/bin/app --host db --${flag(n)} ${s} --port 1`,
  'flag, quoted': (n, s) => `/usr/bin/app --${flag(n)}="${s}" -v`,
  'flag, /proc': (n, s) => `app\0--${flag(n)}\0${s}\0-v\0`,
  positional: (n, s) => `mycli set ${flag(n)} ${s}`,
  query: (n, s) => `GET https://x.example.com/v1?a=1&${n}=${encodeURIComponent(s)}&b=2 200`,
  'query, percent': (n, s) => `next=%2Fv1%3F${n}%3D${encodeURIComponent(s)}%26b%3D2 200`,
  connection: (n, s) => `Server=db;Database=x;${n}=${s};Timeout=1`,
  sql: (n, s) => `ALTER USER app WITH ${n} '${s}'`,
  toml: (n, s) => `[db]\n"${n}" = "${s}"`,
  colour: (n, s) => `\u001b[36m${n}\u001b[0m=${s}`,
  'colour, escaped': (n, s) => `\\u001b[36m${n}\\u001b[0m=${s}`,
  table: (n, s) => `| ${n} | ${s} |`,
  column: (n, s) => `host            db\n${n}            ${s}`,
  'in a sentence': (n, s) => `user bob with ${n} ${s} created`,
  'sentence, is': (n, s) => `the ${n} is ${s}`,
  'sentence, for': (n, s) => `${n} for user bob: ${s}`,
  'sentence, below': (n, s) => `Set the following random ${n}:\n\n  ${s}\n`,
  continued: (n, s) => `app --${flag(n)} \\\n  ${s}`,
};

const prefixed = (prefix: string) => (text: string) =>
  text
    .split('\n')
    .map((line) => prefix + line)
    .join('\n');

/** Where a bundle has such texts. */
export const PLACES: Readonly<Record<string, (text: string) => string>> = {
  alone: (text) => text,
  indented: prefixed('      '),
  journal: prefixed('Nov 21 14:58:25 sno-0 app[4242]: '),
  'journal, ISO': prefixed('2026-11-21T14:58:25.015507+0000 sno-0 app[4242]: '),
  'container log': prefixed('2026-11-21T14:58:25.015507000Z '),
  'runtime log': prefixed('2026-11-21T14:58:25.015507000Z stdout F '),
  klog: (text) => `I1121 14:58:25.015507    4242 config.go:95] ${text}`,
  logrus: (text) => `time="2026-11-21T14:58:25Z" level=info msg=${json(text)}`,
  zap: (text) => json({ level: 'info', ts: '2026-11-21T14:58:25.015Z', msg: text, n: 1 }),
  sentence: (text) => `failed to apply configuration '${text}' at line 7`,
};

/** What prints the message of a record in quotes has no line of its own to continue. */
const isWritable = (format: string, place: string) =>
  !(place === 'sentence' && /below|block|list|column|table|continued|single|proc/.test(format)) &&
  !(place === 'klog' && /below|block|yaml|column|continued|table|variable/.test(format));

/** Several thousand, the same for the same seed. */
export function* combinations(random: SeededRandom): Generator<Combination> {
  for (const [format, write] of Object.entries(FORMATS)) {
    for (const [place, put] of Object.entries(PLACES)) {
      if (!isWritable(format, place)) continue;
      for (const [kind, make] of SECRETS) {
        const secret = make(random);
        const name = NAMES[random.integer(0, NAMES.length)] ?? '';
        yield {
          text: `${put(write(name, secret))}\n`,
          secret,
          recipe: `${format} | ${place} | ${kind} | ${name}`,
        };
      }
    }
  }
}

const bytes = (text: string) => [...Buffer.from(text)];
const coded = (text: string, write: (byte: number) => string) => bytes(text).map(write).join('');
const two = (byte: number) => byte.toString(16).padStart(2, '0');

/** How programs write a text that they know nothing of. */
export const SPELLINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: (s) => s,
  json: escaped,
  'json twice': (s) => escaped(escaped(s)),
  go: (s) => escaped(s).replace(/[<>&]/g, (c) => `\\u00${two(c.charCodeAt(0))}`),
  percent: encodeURIComponent,
  'every byte in percent': (s) => coded(s, (byte) => `%${two(byte)}`),
  'every byte in PERCENT': (s) => coded(s, (byte) => `%${two(byte).toUpperCase()}`),
  base64: (s) => Buffer.from(s).toString('base64'),
  'base64 in a text': (s) => Buffer.from(`user:${s}`).toString('base64'),
  base64url: (s) => Buffer.from(s).toString('base64url'),
  'base64 twice': (s) => Buffer.from(Buffer.from(s).toString('base64')).toString('base64'),
  hex: (s) => coded(s, two),
  HEX: (s) => coded(s, two).toUpperCase(),
  'hex with blanks': (s) => bytes(s).map(two).join(' '),
  'hex with colons': (s) => bytes(s).map(two).join(':'),
  'HEX with colons': (s) => bytes(s).map(two).join(':').toUpperCase(),
  'hex of Go': (s) =>
    bytes(s)
      .map((byte) => `0x${byte.toString(16)}`)
      .join(', '),
  'bytes with blanks': (s) => `[${bytes(s).join(' ')}]`,
  'bytes with commas': (s) => `[${bytes(s).join(',')}]`,
  'bytes with both': (s) => `[${bytes(s).join(', ')}]`,
  'bytes in lines': (s) => JSON.stringify(bytes(s), null, 2),
  'doubled dollars': (s) => s.replaceAll('$', '$$$$'),
  'dollars in hex': (s) => s.replaceAll('$', '\\x24'),
  'every byte as \\x': (s) => coded(s, (byte) => `\\x${two(byte)}`),
  'every byte as \\u': (s) => coded(s, (byte) => `\\u00${two(byte)}`),
  'every byte in octal': (s) => coded(s, (byte) => `\\${byte.toString(8).padStart(3, '0')}`),
  'symbols as \\x': (s) =>
    s.replace(/[^A-Za-z0-9]/g, (char) => coded(char, (byte) => `\\x${two(byte)}`)),
  'symbols as \\u': (s) => s.replace(/[^A-Za-z0-9]/g, (char) => `\\u00${two(char.charCodeAt(0))}`),
  'symbols as &#': (s) => s.replace(/[^A-Za-z0-9]/g, (char) => `&#${char.charCodeAt(0)};`),
  'symbols as &#x': (s) => s.replace(/[^A-Za-z0-9]/g, (char) => `&#x${two(char.charCodeAt(0))};`),
  entities: (s) => entities(s).replaceAll('<', '&lt;').replaceAll("'", '&#39;'),
  'hex with dashes': (s) => bytes(s).map(two).join('-'),
  'symbols in octal': (s) =>
    s.replace(/[^A-Za-z0-9]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`),
  powershell: (s) => s.replace(/["$`]/g, (c) => `\`${c}`),
  shell: (s) => s.replaceAll("'", "'\\''"),
  'shell, %q': (s) => s.replace(/[^\w./:@%+=,^-]/g, (char) => `\\${char}`),
  sql: (s) => s.replaceAll("'", "''"),
};

const LEARNED = `${ALPHANUMERIC}${ALPHANUMERIC}$&'"<>%+/;,#!*@ `;

/** Secrets that the host holds, each in all spellings, in texts that say nothing of them. */
export function* learned(random: SeededRandom, count: number): Generator<Combination> {
  for (let index = 0; index < count; index++) {
    const length = random.integer(10, 40);
    const secret =
      index % 3 === 0
        ? random.text(length)
        : `${random.text(4)}${random.text(length, LEARNED)}${random.text(4)}`;
    for (const [spelling, spell] of Object.entries(SPELLINGS)) {
      const text = `2026-11-21T14:58:25Z got "${spell(secret)}" from it\n`;
      yield { text, secret, recipe: spelling };
    }
  }
}
