declare global {
  /** ECMAScript's JSON.parse source text access, which TypeScript's library does not have yet. */
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

/** A number of which JSON.stringify writes exactly this text. */
export interface RawJson {
  readonly rawJSON: string;
}

export function rawJson(text: string): RawJson {
  return JSON.rawJSON(text);
}

export function isRawJson(value: unknown): value is RawJson {
  return JSON.isRawJSON(value);
}
