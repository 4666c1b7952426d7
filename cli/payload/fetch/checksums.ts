/**
 * The SHA-256 (hex) of a file in a text of checksums: of `SHA-256  NAME` in a line, as sha256sum writes it, or the only
 * thing in it. Undefined if it has none.
 */
export function checksumIn(text: string, name: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const [only, another] = lines.filter((line) => line !== '');
  if (another === undefined && only !== undefined && /^[0-9a-f]{64}$/i.test(only)) {
    return only.toLowerCase();
  }
  const found = lines.flatMap((line) => {
    const [, sum, path] = /^([0-9a-f]{64})\s+\*?(\S+)$/i.exec(line) ?? [];
    return sum !== undefined && path?.split('/').at(-1) === name ? [sum.toLowerCase()] : [];
  });
  return found[0];
}
