const LINE = /^[A-Za-z0-9+/]{16,128}={0,2}$/;
/** The first line of every OpenSSH key, which is always the same. */
const OPENSSH = 'b3BlbnNzaC1rZXkt';
/** No key is longer: an RSA key of 16,384 bits has 12 KiB of base64. */
const MAX_BASE64 = 1 << 15;

/** The lines of a key's bare base64, broken as OpenSSL, Go and OpenSSH do, the most significant first. */
export function keyLines(base64: string): string[] {
  if (base64.length > MAX_BASE64) return [];
  const width = base64.startsWith(OPENSSH) ? 70 : 64;
  const lines: string[] = [];
  for (let at = 0; at < base64.length; at += width) lines.push(base64.slice(at, at + width));
  const own = lines
    .filter((line) => LINE.test(line) && !line.startsWith(OPENSSH))
    .map((line) => line.replace(/=+$/, ''))
    .filter((line) => line.length >= 16);
  // A long key starts with a common header and public numbers; its private ones are in the second half.
  const first = own.length > SHORT ? Math.floor(own.length / 2) : 0;
  return [...own.slice(first), ...own.slice(0, first)];
}

/** Keys with at most this many lines have the private number in the first lines. */
const SHORT = 4;
