const WORDS = new Set(
  'true false null nil none <none> <unset> <unknown> undefined unset empty yes no on off disabled enabled redacted hidden masked optional required string xxx | |-'.split(
    ' ',
  ),
);
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** An absolute path of a host, or of any file whose name tells its format. */
const PATH =
  /^(?:file:\/\/)?(?:\/(?:assets|bin|boot|data|dev|etc|home|lib|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)\/[\w./@:-]*|[\w./@-]{1,400}\.(?:ya?ml|json|pem|key|crt|conf|toml|ini|env))$/;
export const isPath = (value: string): boolean => value.length < 512 && PATH.test(value);

/** Where a value comes from: a variable, a command, a field of a template. */
const REFERENCE =
  /^(?:\$(?:[A-Z_][A-Z0-9_]*|[0-9@*#?!$]|(?:[a-z]+_)*(?:pass|pw|secret|token|key|cred|auth|user|name|host|file|value|val|input|line|arg|url)[a-z_]*)|\$\{?\w{1,64}\}?(?:\/[\w.-]{1,64}){1,20}|\$\{[\w.!]+(?::?(?:[-=](?:"")?|[?+][^}]*))?\}?|<[A-Za-z$][\w .$-]*>|<p>.*|(?:json|yaml):".*|--[a-z][a-z-]*(?:=.*)?|\$\{\{.*|\$\([^)]*\)?|`[^`]*`?|\{\{.*|<%.*|%(?:[-+#]?[svqdx]|\[\d\]\w|\{\w+\}|\(\w+\)s)|@[A-Z_]+@|\*[A-Za-z_][\w-]*)[,;:.)]?$/;
export const isReference = (value: string): boolean => value.length < 512 && REFERENCE.test(value);

/** A call, an element or an object in a source, of names that are no words; a field that a secret is in. */
const CODE =
  /^[&*]?(?:(?:func|map|new|make|string|encode|config|Error|(?:[a-z]{2,40}|[A-Z][a-z]{2,40})(?:[A-Z][a-z]{2,40}|_[a-z]{2,40}){1,12}|[a-z_]{2,40}\d?(?:\.[A-Za-z_]{2,80}){1,8})[([{]|(?:[A-Za-z_]{1,80}\.){1,8}[A-Za-z_]{0,80}(?:[Pp]ass(?:word|wd)?|[Ss]ecret|[Tt]oken|[Kk]ey|[Cc]redentials?)[,;)]*$)/;
export const isCode = (value: string): boolean => CODE.test(value.slice(0, 512));

/** The name service switch, kinds of tokens of etcd, cookies of Open vSwitch and of a kernel. */
const NSS =
  /^(?:(?:files|sss|systemd|compat|nis|nisplus|ldap|db|winbind|altfiles|mymachines|myhostname|extrausers|\[[^\]]{1,40}\])(?:\s+|$))+$/;
const ORDINARY: readonly { readonly name: RegExp; readonly value: RegExp }[] = [
  { name: /^passwd(?:_compat)?$/, value: NSS },
  { name: /(?:auth|id)-?token$/i, value: /^(?:simple|jwt(?:,.*)?|read|write)$/ },
  {
    name: /cookie$|^key[12]$|token$|auth$/i,
    value: /^0x[0-9a-f]{1,16}(?:\/0x[0-9a-f]{1,16}|\/-1)?$/i,
  },
  // A package of an architecture; a service's port, of kpasswd; the hash of what a deployment depends on.
  {
    name: /passwd$/,
    value: /^(?:(?:de)?install|hold|amd64|arm64|i386|all|\d{1,5}\/(?:tcp|udp|sctp))$/,
  },
  { name: /(?:^|\/)dep-[\w.-]{1,200}\.secret$/, value: /^[\w+/-]{6}==$/ },
  // An attribute of HTML.
  { name: /^accesskey$/, value: /^.$/ },
  // The result of a test.
  { name: /^pass$/i, value: /\// },
  // How kubectl describes what is in a Secret; a constant.
  { name: /./, value: /^(?:\d{1,7} bytes|-?0x[0-9a-f]{1,8})$/i },
  // The shell's working directory.
  { name: /^(?:old)?pwd$/i, value: /^[/~+]/ },
];

/** What other things have under the same name. */
export const isOrdinary = (name: string, value: string): boolean =>
  ORDINARY.some((each) => each.name.test(name) && each.value.test(value));

/** Longer values are judged by their beginning. */
const JUDGED = 512;

/** Random enough to be a secret, rather than an object's name or a word. */
export function looksRandom(whole: string): boolean {
  const value = whole.slice(0, JUDGED);
  if (UUID.test(value) || /^[0-9a-f]{32,}$/i.test(value)) return true;
  if (/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(value) || isUserAndPassword(value)) return true;
  if (/\s|^[a-z]+:\/\//.test(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/].filter((kind) => kind.test(value)).length;
  if (kinds === 3) return value.length >= 12 || changesIn(value) >= 4 || isShort(value);
  if (kinds < 2) return false;
  return (
    changesIn(value) >= 4 ||
    (value.length >= 20 && !/^[a-z0-9./:_*-]+$|\(/.test(value) && !isCapitalized(value))
  );
}

/** How often letters and digits alternate in a word: often in nothing that a person names. */
const changesIn = (value: string) =>
  /^[A-Za-z0-9]{10,}$/.test(value) ? (value.match(/[a-z](?=\d)|\d(?=[a-z])/gi) ?? []).length : 0;

/** The same of fewer characters of all kinds. */
const isShort = (value: string) =>
  /^[A-Za-z0-9]{8,11}$/.test(value) &&
  (value.match(/[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[a-z])/gi) ?? []).length >= 3 &&
  /\d[A-Za-z]/.test(value);

/** Words that begin with capitals, or are all capitals: `KubeControllerManagerClient`, `A_LONG_NAME-of-it`. */
const isCapitalized = (value: string) =>
  /^[\w.:/-]+$/.test(value) && !/(?<![a-z])[a-z](?![a-z])|\d{5}|[A-Z]{13}/.test(value);

const SYMBOL = /[A-Za-z0-9][!#$%^&*+=~@?][A-Za-z0-9]|\d[!#$%^*]$/;
const WORD_SYMBOL = /[A-Za-z0-9][!#$%^&*+~?][A-Za-z0-9]/;

/** A word of letters and digits, or of letters in both cases, and a symbol between them, as nothing has it but a password. */
export const isPassword = (value: string): boolean =>
  /^[\w!#$%^&*+=~@?.-]{8,64}$/.test(value) &&
  /[a-z]/.test(value) &&
  /[A-Z]/.test(value) &&
  (/\d/.test(value) ? SYMBOL : WORD_SYMBOL).test(value);

/** Beside a name that says so: a word of letters and digits, among which it changes twice. */
export const isLikely = (value: string): boolean => value.length <= 128 && changesIn(value) >= 2;

/** Beside a name that says so. */
export const looksLikeSecret = (value: string): boolean =>
  looksRandom(value) || isPassword(value) || isLikely(value);

/** The `auth` of a registry: base64 of `user:password`. */
export function isUserAndPassword(value: string): boolean {
  if (value.length % 4 !== 0 || !/^[A-Za-z0-9+/]{4,}={0,2}$/.test(value)) return false;
  return /^[\x21-\x39\x3b-\x7e]+:[\x20-\x7e]+$/.test(
    Buffer.from(value, 'base64').toString('latin1'),
  );
}

/** Not a secret: empty, a word for nothing, or already redacted. */
export function isNothing(value: string): boolean {
  return (
    value.startsWith('<redacted') ||
    (value.length < 12 &&
      (WORDS.has(value.toLowerCase().replace(/[,;]$/, '')) || /^(?:[\s*<>.\\-]*|x+)$/i.test(value)))
  );
}
