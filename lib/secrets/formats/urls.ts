/** Limits: the part of a URL that can contain the password, and URLs in one value. */
const MAX_URL = 2048;
const MAX_URLS = 32;

/**
 * The passwords of the URLs in a value, as written and percent-decoded. Passwords that contain `@`,
 * `/` or `#` although they should be encoded are found too.
 */
export function urlPasswords(value: string): Set<string> {
  const found = new Set<string>();
  let urls = 0;
  for (let at = value.indexOf('://'); at !== -1; at = value.indexOf('://', at + 3)) {
    urls += 1;
    if (urls > MAX_URLS) break;
    const rest = value.slice(at + 3, at + MAX_URL);
    const word = /^[^\s"'<>]*/.exec(rest)?.[0] ?? '';
    const colon = word.indexOf(':');
    const host = word.slice(0, colon);
    if (colon === -1 || /[/?#@]/.test(host)) continue;
    for (const end of [word.indexOf('@', colon), word.lastIndexOf('@')]) {
      const password = end === -1 ? '' : word.slice(colon + 1, end);
      // A port, in a URL with an `@` in its path.
      if (/^\d{1,5}[/?#]|^$/.test(password)) continue;
      for (const meant of [password, decoded(password)]) found.add(meant);
    }
  }
  return found;
}

/** Percent-decoded; unchanged if the encoding is invalid. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
