/** Of these characters no program makes anything else. */
const PLAIN = /^[\w.-]*$/;

const code = (char: string) => char.charCodeAt(0);
const hex = (char: string, digits: number) => code(char).toString(16).padStart(digits, '0');
const upper = (char: string, digits: number) => hex(char, digits).toUpperCase();
const bytesOf = (char: string) => [...Buffer.from(char, 'utf8')];
const backslashed = (text: string, chars: RegExp) => text.replace(chars, (char) => `\\${char}`);
const percent = (text: string, chars: RegExp) =>
  text.replace(chars, (char) => `%${upper(char, 2)}`);

/** JSON, once more in JSON for each level; escaped as Go, Python, PHP and .NET do. */
function inJson(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [
    json,
    json.replace(/[<>&]/g, (char) => `\\u${hex(char, 4)}`),
    json.replace(/[^ -~]/g, (char) => `\\u${hex(char, 4)}`),
    json.replaceAll('/', '\\/'),
    secret.replace(/[<>&'"+`]/g, (char) => `\\u${upper(char, 4)}`),
  ];
  return forms.flatMap((form) => {
    const nested = JSON.stringify(form).slice(1, -1);
    return [form, nested, JSON.stringify(nested).slice(1, -1)];
  });
}

/** URLs: a component, a form's field, a user's password and a path as Go writes them, in either case. */
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

/** HTML and XML: texts, and attributes as browsers, Go and Python write them. */
function inMarkup(secret: string): string[] {
  const text = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const both = text.replaceAll('>', '&gt;');
  return [
    text,
    both,
    both.replaceAll('"', '&quot;'),
    both.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    both.replaceAll('"', '&quot;').replaceAll("'", '&#x27;'),
    both.replaceAll('"', '&quot;').replaceAll("'", '&apos;'),
    both.replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
  ];
}

/** Shells, systemd, SQL, YAML, CSV, Python, C. */
function quoted(secret: string): string[] {
  return [
    secret.replaceAll("'", "'\\''"),
    secret.replaceAll("'", `'"'"'`),
    secret.replaceAll("'", "''"),
    secret.replaceAll('"', '""'),
    secret.replaceAll('%', '%%'),
    backslashed(secret, /[^\w./:@%+=,^-]/gu),
    backslashed(secret, /['\\]/g),
    backslashed(secret, /["\\$`]/g),
    secret.replace(/[\s\\]/g, (char) => `\\x${hex(char, 2)}`),
    secret.replace(/[^ -~]/gu, (char) =>
      bytesOf(char)
        .map((byte) => `\\x${byte.toString(16)}`)
        .join(''),
    ),
    secret.replace(/[^ -~]/gu, (char) =>
      bytesOf(char)
        .map((byte) => `\\${byte.toString(8)}`)
        .join(''),
    ),
  ];
}

/**
 * What programs make of a secret where they quote or escape its characters: of most secrets,
 * nothing. In UTF-8 as latin1, a character for each byte.
 */
export function quotedSpellings(text: string): string[] {
  if (PLAIN.test(text)) return [];
  // A half of a surrogate pair is none that a URL can have in it.
  const secret = text.toWellFormed();
  const forms = [...inJson(secret), ...inUrls(secret), ...inMarkup(secret), ...quoted(secret)];
  return [...new Set(forms)].map((form) => Buffer.from(form, 'utf8').toString('latin1'));
}
