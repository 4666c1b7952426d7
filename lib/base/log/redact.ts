const HIDDEN = '<redacted>';

/**
 * Patterns of secrets in text that an agent or one of its children may print.
 * Separate from lib/secrets/redact/, whose tables would have to be built at every
 * start of an agent; a log line is short enough for plain patterns.
 */
export const LOG_PATTERNS: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  // the same in base64, as in kubeconfigs and data URLs
  [
    /LS0tLS1CRUdJTi(?:B(?:QUklWQVRF|FQyBQUklWQVRF|SU0EgUFJJVkFUR|PUEVOU1NI|FTkNSWVBURUQg))[\w+/=-]*/g,
    HIDDEN,
  ],
  // an identity of age, also one for quantum computers or of a plug-in
  [/\bAGE-(?:SECRET-KEY|PLUGIN)-[\w-]{16,}/g, HIDDEN],
  // user:password@ in a URL, but not an image's tag before its digest
  [/([a-z0-9+.-]{1,32}:\/\/[^\s/:@]*):[^\s/]+@(?!sha\d+:)/gi, `$1:${HIDDEN}@`],
  // a token in place of both
  [/(:\/\/)[\w-]{16,}@(?!sha\d+:)/g, `$1${HIDDEN}@`],
  // what lets anybody use a URL
  [
    /([?&;](?:sig|(?:x-(?:amz|goog)-)?signature|x-amz-security-token|api_?key)=)[^\s&"']+/gi,
    `$1${HIDDEN}`,
  ],
  [/(\bAuthorization[\s"':=[\\]*(?:Bearer|Basic|Negotiate|Token)\s+)[\w.~+/=-]+/gi, `$1${HIDDEN}`],
  [/(\bBearer\s+)[\w.~+/=-]{20,}/gi, `$1${HIDDEN}`],
  // all of them, but not those of Open vSwitch
  [/(\bCookie"?[^\S\n]*:(?![^\S\n]*0x)[^\S\n]*\[?"?)[^"\n]+/gi, `$1${HIDDEN}`],
  // a JSON web token, such as a service account's
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g, HIDDEN],
  // a token of OpenShift, GitHub or GitLab
  [/\b(?:sha256~|gh[opsur]_|github_pat_|glpat-)[\w-]{20,}/g, HIDDEN],
  // a hash of /etc/shadow, or of an htpasswd file
  [/\$(?:[156y7]|gy|2[aby]|apr1|argon2id?)\$[./\w$=,+-]{8,}/g, HIDDEN],
  // quoted, in JSON or not, also in nested quotes: the closing quote has as many backslashes
  [
    /((?:\bauth|password|passwd|passphrase|token|secret(?:[-_]?key)?|(?:secret[-_]?)?access[-_]?key|api[-_]?key|client-key-data|psk)\\*"?\s*[=:]\s*(\\*)")[\s\S]*?((?<!\\)\2"|$)/gi,
    `$1${HIDDEN}$3`,
  ],
  // the same behind an option
  [/(--[\w-]{0,30}(?:password|passphrase|token)[^\S\n]+)"[^"\n]+"/gi, `$1"${HIDDEN}"`],
  // all words of a network's key
  [/(\bpsk=)[^\n]+/gi, `$1${HIDDEN}`],
  // the next word, or what is in quotes, unless it is a fault of such a field or file that is told
  [
    /((?:password|(?<!\/etc\/)passwd|passphrase|(?<!initial-cluster-)token|client_?secret|secret_?(?:access_?)?key|client-key-data|psk)(?:[^\S\n]{0,3}[=:](?:[^\S\n]*|\n[^\S\n]+)|(?<=--[\w-]{1,30})[^\S\n]+(?!--)))(?!\\*"|(?:expected|unknown field|command not|property is) )(?:'[^'\n]+'|[^\s"',;]+)/gi,
    `$1${HIDDEN}`,
  ],
  [/(\bauth=)[\w+/]{8,}={0,2}/gi, `$1${HIDDEN}`],
  // 32 bytes in base64, as in an encryption configuration, or of WireGuard
  [/(\b(?:secret|private-?key)[^\S\n]{0,3}[=:]\s*)[\w+/]{43}=/gi, `$1${HIDDEN}`],
];

/** The text without what looks like a secret. */
export function redact(text: string, patterns = LOG_PATTERNS): string {
  return patterns.reduce((safe, [pattern, by]) => safe.replace(pattern, by), text);
}
