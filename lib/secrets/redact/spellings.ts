/** Characters that some programs escape wherever they stand. */
const SPECIAL = /[^\w]/g;
/** Characters that no program quotes or escapes. */
const PLAIN = /^[\w.-]*$/;

const code = (char: string) => char.charCodeAt(0);
const hex = (char: string, digits: number) => code(char).toString(16).padStart(digits, '0');
const upper = (char: string, digits: number) => hex(char, digits).toUpperCase();
const backslashed = (text: string, chars: RegExp) => text.replace(chars, (char) => `\\${char}`);
const percent = (text: string, chars: RegExp) =>
  text.replace(chars, (char) => `%${upper(char, 2)}`);

/** JSON, up to three levels deep, with the escapes of Go, Python, PHP and .NET. */
function inJson(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [
    json,
    json.replace(/[<>&]/g, (char) => `\\u${hex(char, 4)}`),
    json.replace(/[^ -~]/g, (char) => `\\u${hex(char, 4)}`),
    json.replaceAll('/', '\\/'),
    json.replaceAll('\\"', '"').replace(/[<>&'"+`]|[^ -~]/g, (char) => `\\u${upper(char, 4)}`),
  ];
  return forms.flatMap((form) => {
    const nested = JSON.stringify(form).slice(1, -1);
    return [form, nested, JSON.stringify(nested).slice(1, -1)];
  });
}

/** Components, form fields, passwords (with Go's rules) and paths of URLs, with hex digits in either case. */
function inUrls(secret: string): string[] {
  const component = encodeURIComponent(secret);
  const strict = percent(component, /[!'()*]/g);
  const forms = [
    component,
    strict,
    strict.replaceAll('%20', '+'),
    strict.replace(/%(?:24|26|2B|2C|3B|3D)/g, decodeURIComponent),
    encodeURI(secret),
    encodeURIComponent(component),
  ];
  return forms.flatMap((form) => [form, form.replace(/%../g, (pair) => pair.toLowerCase())]);
}

/** Texts and attributes in HTML and XML, as written by browsers, Go and Python. */
function inMarkup(secret: string): string[] {
  const text = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return [text, text.replaceAll('>', '&gt;')].flatMap((base) => {
    const named = base.replaceAll('"', '&quot;');
    return [
      base,
      named,
      ...['&#39;', '&#x27;', '&apos;'].map((quote) => named.replaceAll("'", quote)),
      base.replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
    ];
  });
}

/** Shells, systemd, SQL, YAML, CSV, Python, C, nginx. */
function quoted(secret: string): string[] {
  return [
    secret.replaceAll("'", "'\\''"),
    secret.replaceAll("'", `'"'"'`),
    secret.replaceAll("'", "''"),
    secret.replaceAll('"', '""'),
    secret.replaceAll('%', '%%'),
    secret.replaceAll('$', '$$$$'),
    secret.replaceAll('$', '\\x24'),
    ...[upper, hex].flatMap((digits) => [
      ...['\\', '\\\\'].flatMap((slash) => [
        secret.replace(SPECIAL, (char) => `${slash}x${digits(char, 2)}`),
        secret.replace(SPECIAL, (char) => `${slash}u${digits(char, 4)}`),
      ]),
      secret.replace(SPECIAL, (char) => `&#x${digits(char, 2)};`),
    ]),
    ...[SPECIAL, /[<>&'"]/g, /[<>&'"$]/g].map((chars) =>
      secret.replace(chars, (char) => `&#${code(char)};`),
    ),
    bytewise(secret, SPECIAL, (byte) => `\\${padded(byte, 8)}`),
    secret.replace(/["$`]/g, (char) => `\`${char}`),
    backslashed(secret, /[^\w./:@%+=,^-]/gu),
    backslashed(secret, /['\\]/g),
    backslashed(secret, /["\\$`]/g),
    secret.replace(/[\s\\]/g, (char) => `\\x${hex(char, 2)}`),
    bytewise(secret, /["\\]|[^ -~]/gu, (byte) => `\\x${padded(byte, 16).toUpperCase()}`),
    bytewise(secret, /[^ -~]/gu, (byte) => `\\x${padded(byte, 16)}`),
    bytewise(secret, /[^ -~]/gu, (byte) => `\\${padded(byte, 8)}`),
    JSON.stringify(secret)
      .slice(1, -1)
      .replace(/[\u0080-\u00ff]/g, (char) => `\\x${upper(char, 2)}`),
  ];
}

/** A byte in hex or octal, with all digits. */
const padded = (byte: number, base: 8 | 16) =>
  byte.toString(base).padStart(base === 8 ? 3 : 2, '0');

/** Each byte of the characters that match, in UTF-8. */
const bytewise = (text: string, chars: RegExp, write: (byte: number) => string) =>
  text.replace(chars, (char) => Array.from(Buffer.from(char, 'utf8'), write).join(''));

/**
 * The forms of a secret in which programs quote or escape some of its characters. None for most
 * secrets. Encoded as latin1 characters, one for each byte of UTF-8.
 */
export function quotedSpellings(text: string): string[] {
  if (PLAIN.test(text)) return [];
  // encodeURIComponent throws on lone surrogates.
  const secret = text.toWellFormed();
  const forms = [...inJson(secret), ...inUrls(secret), ...inMarkup(secret), ...quoted(secret)];
  return [...new Set(forms)].map((form) => Buffer.from(form, 'utf8').toString('latin1'));
}
