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

/** Whether data is an object of JSON: neither a list nor null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
