/** Well-formed UTF-8, one or more characters, or any other byte. */
const CHARACTERS =
  /((?:[^\x80-\xff]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+)|[\x80-\xff]/g;

/**
 * The text of bytes as Go writes it to JSON: each byte that is not part of a UTF-8 character becomes a
 * replacement character of its own, where TextDecoder has one for several.
 *
 * @param bytes one character (U+0000 to U+00FF) for each byte
 */
export function latin1ToText(bytes: string): string {
  return bytes.replaceAll(CHARACTERS, (_, characters?: string) =>
    characters === undefined ? '\ufffd' : Buffer.from(characters, 'latin1').toString('utf8'),
  );
}
