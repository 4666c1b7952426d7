import t from 'tap';
import { safe } from './marked.ts';
import { SeededRandom } from './random.ts';

/** Secrets with characters that programs quote or escape, and the results. */
const WRITTEN: readonly (readonly [secret: string, forms: Readonly<Record<string, string>>])[] = [
  [
    `q9~W<x&"z/k+L`,
    {
      'text of HTML': 'q9~W&lt;x&amp;"z/k+L',
      'an attribute of HTML': 'q9~W&lt;x&amp;&quot;z/k+L',
      "Go's HTML": 'q9~W&lt;x&amp;&#34;z/k+L',
      "PHP's JSON": 'q9~W<x&\\"z\\/k+L',
      'JSON three times': 'q9~W<x&\\\\\\\\\\\\\\"z/k+L',
      CSV: 'q9~W<x&""z/k+L',
      nginx: 'q9~W<x&\\x22z/k+L',
      'a URL in lower case': 'q9~W%3cx%26%22z%2fk%2bL',
      "a user's password in Go's URLs": 'q9~W%3Cx&%22z%2Fk+L',
      'a URL in a URL': 'q9~W%253Cx%2526%2522z%252Fk%252BL',
      'printf %q': 'q9\\~W\\<x\\&\\"z/k+L',
    },
  ],
  [
    `it's a (long)* one!`,
    {
      'a shell': `it'\\''s a (long)* one!`,
      'a shell, in two kinds of quotes': `it'"'"'s a (long)* one!`,
      'SQL and YAML': `it''s a (long)* one!`,
      "Python's repr": `it\\'s a (long)* one!`,
      'printf %q': `it\\'s\\ a\\ \\(long\\)\\*\\ one\\!`,
      systemd: `it's\\x20a\\x20(long)*\\x20one!`,
      'a form': 'it%27s+a+%28long%29%2A+one%21',
      'a strict URL': 'it%27s%20a%20%28long%29%2A%20one%21',
      'HTML of Python': 'it&#x27;s a (long)* one!',
      XML: 'it&apos;s a (long)* one!',
    },
  ],
  [
    'Pässwort-für-März',
    {
      'JSON of Python': 'P\\u00e4sswort-f\\u00fcr-M\\u00e4rz',
      'bytes of Python': 'P\\xc3\\xa4sswort-f\\xc3\\xbcr-M\\xc3\\xa4rz',
      YAML: 'P\\xE4sswort-f\\xFCr-M\\xE4rz',
      octal: 'P\\303\\244sswort-f\\303\\274r-M\\303\\244rz',
    },
  ],
  [
    'Zq8mK2vW%4tX',
    {
      'every byte in octal': '\\132\\161\\070\\155\\113\\062\\166\\127\\045\\064\\164\\130',
      'colours of grep': 'Zq8m\u001b[01;31m\u001b[KK2vW%\u001b[m\u001b[K4tX',
      'colours in JSON': 'Zq8m\\u001b[31mK2vW%\\u001b[0m4tX',
    },
  ],
  ['100%sure-of-it', { 'a unit': '100%%sure-of-it', printf: '100%%sure-of-it' }],
  [
    'Zq8mK2vW4t',
    {
      'the audit log': '5A71386D4B3276573474',
      'a buffer in JSON': '90,113,56,109,75,50,118,87,52,116',
    },
  ],
];

t.test('a known secret is found as programs quote and escape it', async (t) => {
  for (const [secret, forms] of WRITTEN) {
    for (const [name, form] of Object.entries(forms)) {
      const line = `before [${form}] after\n`;
      t.equal(await safe(line, { known: [secret] }), 'before [#] after\n', `${name}: ${form}`);
      t.equal(await safe(line), line, `${name}: nothing else finds it`);
    }
  }
});

t.test('of very many secrets, each is found in all spellings', async (t) => {
  const random = new SeededRandom(3);
  const known = Array.from({ length: 4000 }, () => random.text(24));
  for (const secret of [known[0] ?? '', known.at(-1) ?? '']) {
    const base64 = Buffer.from(`a${secret}`).toString('base64');
    const escaped = Array.from(secret, (char) => `%${char.charCodeAt(0).toString(16)}`).join('');
    t.match(await safe(`${base64} ${escaped} x${secret}y\n`, { known }), /^.?# # x#y\n$/);
  }
});

t.test('half a surrogate pair does not stop redaction', async (t) => {
  t.equal(await safe('x one-\ufffd-half y\n', { known: ['one-\ud800-half'] }), 'x # y\n');
});

t.test('one way of escaping in another is found', async (t) => {
  const secret = `q9~W<x&"z'k+L$7`;
  const json = (text: string) => JSON.stringify(text).slice(1, -1);
  const shell = (text: string) => text.replaceAll("'", "'\\''");
  const xml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const hex = (text: string) => Buffer.from(text).toString('hex');
  const ways = {
    json,
    shell,
    xml,
    url: encodeURIComponent,
    units: (text: string) => text.replaceAll('$', '$$$$'),
  };
  for (const [outer, write] of Object.entries({ ...ways, hex })) {
    for (const [inner, written] of Object.entries(ways)) {
      const form = write(written(secret));
      t.equal(
        await safe(`x [${form}] y\n`, { known: [secret] }),
        'x [#] y\n',
        `${inner} in ${outer}`,
      );
    }
  }
});
