const HIDDEN = '<redacted>';

/** What a secret looks like in text that an agent or one of its children may print. */
const PATTERNS: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  // user:password@ of a URL
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${HIDDEN}@`],
  [/(\bAuthorization:?["']?\s*[:=]?\s*["']?(?:Bearer|Basic)\s+)[\w.~+/=-]+/gi, `$1${HIDDEN}`],
  // a JSON web token, such as a service account's
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g, HIDDEN],
  [
    /("(?:auth|password|token|client-key-data|secretbox|pullSecret)"\s*:\s*)"[^"]*"/gi,
    `$1"${HIDDEN}"`,
  ],
  [/(\b(?:password|token|client-key-data|bootstrap-token)[=:]\s*)[^\s"',;]+/gi, `$1${HIDDEN}`],
];

/** The text without what looks like a secret. */
export function redact(text: string): string {
  return PATTERNS.reduce((safe, [pattern, by]) => safe.replace(pattern, by), text);
}
