/** Longest beginning of a URL in which its password stands, and how many URLs of a value are read. */
const MAX_URL = 2048;
const MAX_URLS = 32;

/**
 * The passwords of the URLs in a value, as they are written and as they are meant: percent-encoded,
 * or not although they have `@`, `/` or `#` in them. With the user, as in a request's header.
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
      // The port of a URL with an `@` in its path.
      if (/^\d{1,5}[/?#]|^$/.test(password)) continue;
      for (const meant of [password, decoded(password)]) found.add(meant);
    }
  }
  return found;
}

/** What percent-encoding stands for; what is none stays. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
