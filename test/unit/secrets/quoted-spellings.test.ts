import t from 'tap';
import { Canonical } from '../../../lib/secrets/redact/canonical.ts';

/** Backslashes as they are; `¬` stands for a backtick. */
const raw = (text: TemplateStringsArray, ...values: string[]) =>
  String.raw(text, ...values).replaceAll('¬', '`');

/** One secret with all characters that programs quote or escape. */
const SYMBOLS = raw`Aa1<>&'"+/\ %$!*(),;=?:@#-_.~¬`;

/** What each program writes for it. */
const FORMS: Readonly<Record<string, string>> = {
  JSON: raw`Aa1<>&'\"+/\\ %$!*(),;=?:@#-_.~¬`,
  'JSON of Go': raw`Aa1\u003c\u003e\u0026'\"+/\\ %$!*(),;=?:@#-_.~¬`,
  'JSON of PHP': raw`Aa1<>&'\"+\/\\ %$!*(),;=?:@#-_.~¬`,
  'JSON of .NET': raw`Aa1\u003C\u003E\u0026\u0027\u0022\u002B/\\ %$!*(),;=?:@#-_.~\u0060`,
  'JSON in JSON': raw`Aa1<>&'\\\"+/\\\\ %$!*(),;=?:@#-_.~¬`,
  'JSON in JSON in JSON': raw`Aa1<>&'\\\\\\\"+/\\\\\\\\ %$!*(),;=?:@#-_.~¬`,
  'JSON of Go in JSON': raw`Aa1\\u003c\\u003e\\u0026'\\\"+/\\\\ %$!*(),;=?:@#-_.~¬`,
  'a component of a URL': "Aa1%3C%3E%26'%22%2B%2F%5C%20%25%24!*()%2C%3B%3D%3F%3A%40%23-_.~%60",
  'a strict component':
    'Aa1%3C%3E%26%27%22%2B%2F%5C%20%25%24%21%2A%28%29%2C%3B%3D%3F%3A%40%23-_.~%60',
  'a form': 'Aa1%3C%3E%26%27%22%2B%2F%5C+%25%24%21%2A%28%29%2C%3B%3D%3F%3A%40%23-_.~%60',
  'a password in a URL of Go': 'Aa1%3C%3E&%27%22+%2F%5C%20%25$%21%2A%28%29,;=%3F%3A%40%23-_.~%60',
  'a URL': "Aa1%3C%3E&'%22+/%5C%20%25$!*(),;=?:@#-_.~%60",
  'a component of a component':
    "Aa1%253C%253E%2526'%2522%252B%252F%255C%2520%2525%2524!*()%252C%253B%253D%253F%253A%2540%2523-_.~%2560",
  'a component in lower case': "Aa1%3c%3e%26'%22%2b%2f%5c%20%25%24!*()%2c%3b%3d%3f%3a%40%23-_.~%60",
  'a URL in lower case': "Aa1%3c%3e&'%22+/%5c%20%25$!*(),;=?:@#-_.~%60",
  'a form in lower case':
    'Aa1%3c%3e%26%27%22%2b%2f%5c+%25%24%21%2a%28%29%2c%3b%3d%3f%3a%40%23-_.~%60',
  'text of XML': raw`Aa1&lt;>&amp;'"+/\ %$!*(),;=?:@#-_.~¬`,
  'text of HTML': raw`Aa1&lt;&gt;&amp;'"+/\ %$!*(),;=?:@#-_.~¬`,
  'an attribute of HTML': raw`Aa1&lt;&gt;&amp;'&quot;+/\ %$!*(),;=?:@#-_.~¬`,
  'HTML of PHP': raw`Aa1&lt;&gt;&amp;&#39;&quot;+/\ %$!*(),;=?:@#-_.~¬`,
  'HTML of Python': raw`Aa1&lt;&gt;&amp;&#x27;&quot;+/\ %$!*(),;=?:@#-_.~¬`,
  'an attribute of XML': raw`Aa1&lt;&gt;&amp;&apos;&quot;+/\ %$!*(),;=?:@#-_.~¬`,
  'HTML of Go': raw`Aa1&lt;&gt;&amp;&#39;&#34;+/\ %$!*(),;=?:@#-_.~¬`,
  'single quotes of a shell': raw`Aa1<>&'\''"+/\ %$!*(),;=?:@#-_.~¬`,
  'two kinds of quotes of a shell': raw`Aa1<>&'"'"'"+/\ %$!*(),;=?:@#-_.~¬`,
  'double quotes of a shell': raw`Aa1<>&'\"+/\\ %\$!*(),;=?:@#-_.~\¬`,
  'printf %q': raw`Aa1\<\>\&\'\"+/\\\ %\$\!\*\(\),\;=\?:@\#-_.\~\¬`,
  'SQL and YAML': raw`Aa1<>&''"+/\ %$!*(),;=?:@#-_.~¬`,
  CSV: raw`Aa1<>&'""+/\ %$!*(),;=?:@#-_.~¬`,
  'a unit and printf': raw`Aa1<>&'"+/\ %%$!*(),;=?:@#-_.~¬`,
  Python: raw`Aa1<>&\'"+/\\ %$!*(),;=?:@#-_.~¬`,
  systemd: raw`Aa1<>&'"+/\x5c\x20%$!*(),;=?:@#-_.~¬`,
  nginx: raw`Aa1<>&'\x22+/\x5C %$!*(),;=?:@#-_.~¬`,
};

const canonical = (text: string) => new Canonical().of(Buffer.from(text)).toString('latin1');

t.test('each notation of a secret with symbols', async (t) => {
  for (const [program, form] of Object.entries(FORMS)) {
    t.equal(canonical(form), canonical(SYMBOLS), program);
  }
  t.equal(canonical(SYMBOLS), 'Aa1<>& / $!*(),;=?:@#-_.~', 'with all that does not quote');
});

t.test('each notation of other characters', async (t) => {
  const table: [secret: string, form: string][] = [
    ['a"é/<€', raw`a\"é/<€`],
    ['a"é$/<', raw`a\"é$/<`],
    ['a"é/<€', raw`a\"é/\u003c€`],
    ['a"é/<€', raw`a\"\u00e9/<\u20ac`],
    ['a"é/<€', raw`a\"é\/<€`],
    ['a"é/<€', raw`a\u0022\u00E9/\u003C\u20AC`],
    ['a"é/<€', raw`a\"\xE9/<€`],
    ['a"é/<€', raw`a\x22\xC3\xA9/<\xE2\x82\xAC`],
    ['a"é/<€', raw`a"\xc3\xa9/<\xe2\x82\xac`],
    ['a"é/<€', raw`a"\303\251/<\342\202\254`],
    ['a"é/<€', 'a%22%C3%A9%2F%3C%E2%82%AC'],
    ['a"é/<€', 'a%22%c3%a9/%3c%e2%82%ac'],
    ['a\nb\tc', raw`a\nb\tc`],
    ['a\nb\tc', raw`a\x0ab\x09c`],
    ['a\nb\tc', raw`a\x0Ab\x09c`],
    ['a\nb\tc', raw`a\012b\011c`],
    ['a\nb\tc', 'a%0Ab%09c'],
    ['a\nb\tc', raw`a\\nb\\tc`],
    ['ÿ\u0080\u0100\u007f', raw`\xFF\x80${'\u0100\u007f'}`],
    ['a\ud800b"', 'a\ufffdb""'],
  ];
  for (const [secret, form] of table) t.equal(canonical(form), canonical(secret), form);
});
