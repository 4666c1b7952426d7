/** A way in which a secret can be written, as latin1 characters, one for each byte of UTF-8. */
export interface Spelling {
  readonly text: string;
  /** Characters before and after it that hold a part of the secret too. */
  readonly before: number;
  readonly after: number;
}

/** Longer ones than a line of a key are not printed in lists of bytes. */
const MAX_LISTED = 80;
/** The audit log has command lines as hex, but cuts them off at 128 bytes. */
const MAX_HEX = 128;
/** Longer ones with special characters are searched for in the most usual spellings: all are beyond the limit. */
const MAX_QUOTED = 2048;
/** Characters that no program quotes or escapes. */
const PLAIN = /^[\w.-]*$/;
const KEY_LINE = /^[A-Za-z0-9+/]{64}$/;

const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
const whole = (text: string): Spelling => ({ text, before: 0, after: 0 });

export const verbatim = (secret: string): Spelling => whole(latin1(secret));

/** All ways in which programs write a secret that they know nothing of. */
export function spellingsOf(text: string): Spelling[] {
  const bytes = Buffer.from(text, 'utf8');
  // encodeURIComponent throws on lone surrogates.
  const secret = text.toWellFormed();
  const isPlain = PLAIN.test(text);
  const isLong = !isPlain && text.length > MAX_QUOTED;
  const quoted = isLong ? [json(secret), encodeURIComponent(secret)] : quotedSpellings(secret);
  const forms = [secret, ...(isPlain ? [] : quoted)].map(latin1);
  if (!isLong) {
    forms.push(...byteSpellings(bytes));
    // Of a line of a private key, what it stands for.
    if (KEY_LINE.test(text)) forms.push(...byteSpellings(Buffer.from(text, 'base64')));
  }
  const encoded = inBase64(bytes);
  return [
    ...[...new Set(forms)].map(whole),
    ...encoded,
    // Encoded once more, like a kubeconfig's key in a Secret.
    ...(isLong ? [] : encoded.flatMap((once) => inBase64(Buffer.from(once.text, 'latin1')))),
  ];
}

const json = (secret: string) => JSON.stringify(secret).slice(1, -1);

/** How characters are escaped: of those with `codes` the UTF-16 code, of others each byte of UTF-8. */
const ESCAPES = [
  { begin: '%', base: 16, digits: 2 },
  { begin: '\\x', base: 16, digits: 2 },
  { begin: '\\\\x', base: 16, digits: 2 },
  { begin: '\\', base: 8, digits: 3 },
  { begin: '\\x', base: 16, digits: 2, codes: true },
  { begin: '\\u', base: 16, digits: 4, codes: true },
  { begin: '\\\\u', base: 16, digits: 4, codes: true },
  { begin: '&#', base: 10, digits: 0, end: ';', codes: true },
  { begin: '&#x', base: 16, digits: 2, end: ';', codes: true },
];
/** Which characters are: of Python and C, of systemd, in markup, or all that are neither letters nor digits. */
const SPECIAL = [
  /[^ -~]/gu,
  /["\\]|[^ -~]/gu,
  /[\s\\]/gu,
  /[<>&'"]/gu,
  /[<>&'"$]/gu,
  /\W/gu,
  /[$]/gu,
];
const EVERY = /[\s\S]/gu;

/** `isBytes`: each character is a byte. */
function escaped(secret: string, chars: RegExp, isBytes = false): string[] {
  return ESCAPES.flatMap(({ begin, base, digits, end = '', codes = false }) => {
    const units = (char: string) =>
      codes || isBytes
        ? Array.from(char.split(''), (one) => one.charCodeAt(0))
        : [...Buffer.from(char, 'utf8')];
    const write = (isUpper: boolean) =>
      secret.replace(chars, (char) =>
        units(char)
          .map((unit) => unit.toString(base).padStart(digits, '0'))
          .map((text) => begin + (isUpper ? text.toUpperCase() : text) + end)
          .join(''),
      );
    return base === 16 ? [write(false), write(true)] : [write(false)];
  });
}

/** The forms in which programs quote or escape some characters of a secret. */
function quotedSpellings(secret: string): string[] {
  return [
    ...SPECIAL.flatMap((chars) => escaped(secret, chars)),
    ...inJson(secret),
    ...inUrls(secret),
    ...inMarkup(secret),
    ...["''", "'\\''", `'"'"'`].map((quote) => secret.replaceAll("'", quote)),
    ...['"', '%', '$'].map((char) => secret.replaceAll(char, () => char + char)),
    secret.replace(/["$`]/g, (char) => `\`${char}`),
    ...[/[^\w./:@%+=,^-]/gu, /['\\]/g, /["\\$`]/g].map((chars) => secret.replace(chars, '\\$&')),
  ];
}

/** JSON, up to three levels deep, as JavaScript, Go, Python, PHP and .NET write it. */
function inJson(secret: string): string[] {
  const code = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const own = json(secret);
  const net = own.replaceAll('\\"', '"').replace(/[<>&'"+`]|[^ -~]/g, code);
  return [
    own,
    own.replace(/[<>&]/g, code),
    own.replace(/[^ -~]/g, code),
    own.replaceAll('/', '\\/'),
    own.replace(/[\x80-\xff]/g, (char) => `\\x${char.charCodeAt(0).toString(16).toUpperCase()}`),
    net.replace(/\\u..../g, (text) => `\\u${text.slice(2).toUpperCase()}`),
  ].flatMap((form) => [form, json(form), json(json(form))]);
}

/** Components, form fields, passwords (with Go's rules) and paths of URLs, with hex digits in either case. */
function inUrls(secret: string): string[] {
  const component = encodeURIComponent(secret);
  const strict = component.replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return [
    component,
    strict,
    strict.replaceAll('%20', '+'),
    strict.replace(/%(?:24|26|2B|2C|3B|3D)/g, decodeURIComponent),
    encodeURI(secret),
    encodeURIComponent(component),
  ].flatMap((form) => [form, form.replace(/%../g, (pair) => pair.toLowerCase())]);
}

/** Texts and attributes in HTML and XML, as written by browsers, Go and Python. */
function inMarkup(secret: string): string[] {
  const text = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return [text, text.replaceAll('>', '&gt;')].flatMap((base) => {
    const quotes = ["'", '&#39;', '&#x27;', '&apos;'].map((quote) => base.replaceAll("'", quote));
    return quotes.flatMap((form) =>
      ['"', '&quot;', '&#34;'].map((quote) => form.replaceAll('"', quote)),
    );
  });
}

/** In JSON with a line for each. */
const INDENTED = [2, 4, 6, 8, 10, 12].map((blanks) => `,\n${' '.repeat(blanks)}`);

/** Each byte on its own: in hex as Go, openssl and the audit log write it, in lists, in escapes. */
function byteSpellings(bytes: Buffer): string[] {
  if (bytes.length > MAX_HEX) return [];
  const pairs = bytes.toString('hex').match(/../g) ?? [];
  const inHex = ['', ' ', ':', '-'].map((joint) => pairs.join(joint));
  const all = [...inHex, ...inHex.map((text) => text.toUpperCase())];
  if (bytes.length > MAX_LISTED) return all;
  const hexes = [
    Array.from(bytes, (byte) => `0x${byte.toString(16)}`),
    pairs.map((pair) => `0x${pair}`),
    pairs.map((pair) => `0x${pair.toUpperCase()}`),
  ];
  return [
    ...all,
    ...[' ', ',', ', ', ...INDENTED].map((joint) => bytes.join(joint)),
    ...hexes.flatMap((list) => [' ', ',', ', '].map((joint) => list.join(joint))),
    ...escaped(bytes.toString('latin1'), EVERY, true),
  ];
}

/** Bytes before the secret in a group of three, and the first character that holds only of it. */
const OFFSETS = [
  { offset: 0, start: 0 },
  { offset: 1, start: 2 },
  { offset: 2, start: 3 },
] as const;

/**
 * Of each of the three ways in which bytes can lie in base64's groups, the characters that
 * depend on nothing before or after them.
 */
function inBase64(bytes: Buffer): Spelling[] {
  return OFFSETS.flatMap(({ offset, start }) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const bits = (offset + bytes.length) * 8;
    const body = text.slice(start, Math.floor(bits / 6));
    const edges = { before: start === 0 ? 0 : 1, after: bits % 6 === 0 ? 0 : 1 };
    const url = body.replaceAll('+', '-').replaceAll('/', '_');
    return (url === body ? [body] : [body, url]).map((spelled) => ({ text: spelled, ...edges }));
  });
}
