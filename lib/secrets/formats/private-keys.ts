const BEGIN = /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}(?:PRIVATE KEY(?: BLOCK)?|Static key V1)-----/g;
const END = '-----END ';
/** No key is longer in print. */
const MAX_BYTES = 1 << 16;
const LINE = /^[A-Za-z0-9+/]{16,128}={0,2}$/;
/** The beginning of every OpenSSH key, which tells nothing. */
const OPENSSH = 'b3BlbnNzaC1rZXkt';

export interface PrivateKey {
  /** The characters of base64 of all of it. */
  readonly body: string;
  /** The lines by which it is found, as they are written. */
  readonly lines: readonly string[];
}

/** Each private key in PEM, encrypted or not, of OpenSSH, PGP and OpenVPN. */
export function* privateKeys(text: string): Generator<PrivateKey> {
  let done = 0;
  for (const { 0: marker, index } of text.matchAll(BEGIN)) {
    if (index < done) continue;
    const start = index + marker.length;
    const extent = text.slice(start, start + MAX_BYTES);
    const end = extent.indexOf(END);
    const body = end === -1 ? extent : extent.slice(0, end);
    done = start + body.length;
    const lines = body.split(/[\s"]+|\\[nr]/).filter((line) => LINE.test(line));
    yield { body: body.replace(/\\[nr]|[^A-Za-z0-9+/]/g, ''), lines: telling(lines) };
  }
}

/** The lines by which a key is found of which there is the base64 alone: as OpenSSL, Go or OpenSSH write them. */
export function keyLines(base64: string): string[] {
  const width = base64.startsWith(OPENSSH) ? 70 : 64;
  const lines: string[] = [];
  for (let at = 0; at < base64.length; at += width) lines.push(base64.slice(at, at + width));
  return telling(lines.filter((line) => LINE.test(line)));
}

/** Lines of a key up to this number are all looked for. */
const SHORT = 4;

/**
 * The lines by which a key is found. A short key's private number is in its first lines; a long
 * one begins with what is public or equal in all keys, and has its private numbers from the middle
 * on: two lines of it suffice. The last line can be too short to tell anything.
 */
function telling(all: readonly string[]): string[] {
  const lines = all
    .map((line) => line.replace(/=+$/, ''))
    .filter((line) => line.length >= 16 && !line.startsWith(OPENSSH));
  if (lines.length <= SHORT) return lines;
  return [0.5, 0.75].flatMap((part) => lines[Math.floor(lines.length * part)] ?? []);
}
