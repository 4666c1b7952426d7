/** Identification and the one method there is, deflate: RFC 1952, section 2.3.1. */
export const gzipMagic = Buffer.from('1f8b08', 'hex');

const flags = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 } as const;
const fixedBytes = 10;
/** A name or comment longer than this is noise that looked like a header. */
const longestHeader = 1 << 16;

/** Where a member's deflate stream begins; 'more': after the window; undefined: this is no header. */
export function gzipBody(window: Buffer, at: number): number | 'more' | undefined {
  const flag = window[at + 3];
  if (flag === undefined) return 'more';
  if ((flag & flags.reserved) !== 0) return undefined;
  let end = at + fixedBytes;
  if ((flag & flags.extra) !== 0) {
    if (end + 2 > window.length) return 'more';
    end += 2 + window.readUInt16LE(end);
  }
  for (const text of [flags.name, flags.comment]) {
    if ((flag & text) === 0) continue;
    const zero = window.indexOf(0, end);
    if (zero === -1) return window.length - at > longestHeader ? undefined : 'more';
    end = zero + 1;
  }
  if ((flag & flags.headerCrc) !== 0) end += 2;
  return end < window.length ? end : 'more';
}
