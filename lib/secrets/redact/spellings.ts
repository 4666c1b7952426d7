import { Canonical } from './canonical.ts';

const canonical = new Canonical();

/** How a secret can stand in canonical text, as latin1: as it is, and in base64. */
export function spellingsOf(secret: string): string[] {
  const once = inBase64(Buffer.from(secret, 'utf8'));
  // What longer ones give when they are encoded twice is decoded as a document.
  const twice = secret.length > 16 ? [] : once.flatMap((text) => inBase64(Buffer.from(text)));
  // Where each character is escaped, the signs of escapes are none with what follows them.
  const all = [secret, secret.replace(/[%\\]/g, ''), ...once, ...twice];
  return [...new Set(all.map((text) => canonical.of(Buffer.from(text)).toString('latin1')))];
}

/**
 * Of each of the three ways in which bytes can lie in base64's groups, the characters that
 * depend on nothing before or after them.
 */
function inBase64(bytes: Buffer): string[] {
  // By the bytes before the secret in a group of three: the first character that holds only of it.
  return [0, 2, 3].flatMap((start, offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const body = text.slice(start, Math.floor(((offset + bytes.length) * 8) / 6));
    const url = body.replaceAll('+', '-').replaceAll('/', '_');
    return url === body ? [body] : [body, url];
  });
}
