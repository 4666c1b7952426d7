/**
 * Data of a JSON text that somebody else wrote, for a schema to judge; undefined where it is not JSON.
 * The parser's own message is no use to a reader, and quotes the text, which can hold secrets.
 */
export function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
