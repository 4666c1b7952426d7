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
  return bySignificance(lines.filter((line) => LINE.test(line)));
}

/** Keys with at most this many lines have the private number in the first lines. */
const SHORT = 4;

/**
 * The lines of a key, the most significant first. A long key starts with a common header and public
 * numbers; its private numbers are in the second half. The last line can be too short to identify it.
 */
function bySignificance(all: readonly string[]): string[] {
  const lines = all
    .map((line) => line.replace(/=+$/, ''))
    .filter((line) => line.length >= 16 && !line.startsWith(OPENSSH));
  if (lines.length <= SHORT) return lines;
  const first = [0.5, 0.75].map((part) => Math.floor(lines.length * part));
  return [
    ...first.flatMap((index) => lines[index] ?? []),
    ...lines.filter((_, index) => !first.includes(index)),
  ];
}
