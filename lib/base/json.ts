/**
 * Parses JSON from elsewhere, to be validated by a schema; undefined if it is not
 * JSON. The parser's own message does not help a reader, and quotes the text, which
 * can contain secrets.
 */
export function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether data is a JSON object: neither an array nor null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
