/**
 * Names of fields, variables and options that make a value a secret, whatever it looks
 * like. The whole name is compared by its end, so that `DB_PASSWORD`, `proxyPassword` and
 * `aws_secret_access_key` count too, but `passwordFile` and `tokenPath` do not.
 */
export const ALWAYS: readonly string[] = [
  'password',
  'passwd',
  'passphrase',
  'passwordhash',
  'pwd',
  'clientsecret',
  'secretkey',
  'accesskey',
  'sharedkey',
  'accountkey',
  'privatekey',
  'clientkeydata',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'identitytoken',
  'registrytoken',
  'sessiontoken',
  'authtoken',
  'bearertoken',
  'securitytoken',
  'bootstraptoken',
  'apitoken',
  'vaulttoken',
  'privatetoken',
  'apikey',
  'encryptionkey',
  'encryptionkeysecret',
  'psk',
  'wepkey0',
  'wepkey1',
  'wepkey2',
  'wepkey3',
  'mkacak',
  'dockerconfigjson',
  'dockercfg',
  'dockerauthconfig',
  'pullsecret',
  'amzsignature',
  'googsignature',
  'requirepass',
  'masterauth',
  'bindpw',
  'rootpw',
  'authtok',
  'passwordin',
  'secretkeybase',
  'reviewerjwt',
  'passcode',
  'authkey',
  'activationkey',
  'codeverifier',
  // "Password" in German, French, Spanish, Portuguese and Dutch.
  'passwort',
  'kennwort',
  'motdepasse',
  'contrasena',
  'senha',
  'wachtwoord',
];

/** Names of secrets, but also of ordinary things: a Secret's own name, a kind of token, a D-Bus cookie. */
export const SOMETIMES: readonly string[] = [
  'token',
  'secret',
  'auth',
  'credential',
  'credentials',
  'authorization',
  'cookie',
  'pass',
  'key1',
  'key2',
  'certificatekey',
  'userkey',
  'adminkey',
  'appkey',
  'routingkey',
  'servicekey',
  'integrationkey',
  'jwtkey',
  'signingkey',
];

/** Names that end like one of the above but are not secrets. */
export const NEVER: ReadonlySet<string> = new Set([
  'nopasswd',
  'initialclustertoken',
  'continuetoken',
  'nextpagetoken',
  'pagetoken',
]);

/** Environment variables such as `VAULT_TOKEN`, a token as an option, short forms of "password" after another word. */
const MORE = [
  /(?:^|[_-])pw$/i,
  /^-?(?:db|my|smtp|ldap|user|root|admin|bind|proxy|mail|sql|ftp|pg|redis|enc|key|store|trust|ssh|sudo|wifi|vnc|smb)pass$/i,
  /^[A-Z0-9_]+_(?:TOKEN|SECRET|CREDENTIALS?)$/,
  /^-{0,2}(?:src|dest|new)(?:store|key)?pass$/i,
  /^-.*token$/i,
  /[._-]pass$/i,
  /[a-z]Pass$/,
];

export type Sensitivity = 'always' | 'by-value' | 'never';

const MAX_REMEMBERED = 4096;
const remembered = new Map<string, Sensitivity>();

/** Whether the value under this name is a secret. */
export function sensitivityOf(name: string): Sensitivity {
  const before = remembered.get(name);
  if (before !== undefined) return before;
  const sensitivity = decided(name);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  // A copy: a part of a line would keep the line in memory.
  remembered.set(Buffer.from(name, 'utf8').toString('utf8'), sensitivity);
  return sensitivity;
}

function decided(name: string): Sensitivity {
  // Longer ones are texts.
  if (name.length > 200) return 'never';
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (NEVER.has(plain)) return 'never';
  const isAlways =
    ALWAYS.some((end) => plain.endsWith(end)) || MORE.some((shape) => shape.test(name));
  if (isAlways) return 'always';
  return SOMETIMES.some((end) => plain.endsWith(end)) ? 'by-value' : 'never';
}

const WORDS = new Set([
  'true',
  'false',
  'null',
  'nil',
  'none',
  '<none>',
  '<unset>',
  '<unknown>',
  'undefined',
  'unset',
  'empty',
  'yes',
  'no',
  'on',
  'off',
  'disabled',
  'enabled',
  'redacted',
  'hidden',
  'masked',
  'optional',
  'required',
  'xxx',
  '|',
  '|-',
]);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** An absolute path of a host, or of a file whose name tells its format. */
const PATH =
  /^(?:file:\/\/)?\/(?:(?:assets|bin|boot|data|dev|etc|home|lib|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)\/[\w./@:-]*|[\w./@-]{1,400}\.(?:ya?ml|json|pem|key|crt|conf|toml|ini|env))$/;
export const isPath = (value: string): boolean => value.length < 512 && PATH.test(value);

/** Where a value comes from: a variable, a command, a field of a template. */
const REFERENCE =
  /^(?:\$(?:[A-Z_][A-Z0-9_]*|[0-9@*#?!$]|(?:[a-z]+_)*(?:pass|pw|secret|token|key|cred|auth|user|name|host|file|value|val|input|line|arg|url)[a-z_]*)|\$\{?\w{1,64}\}?(?:\/[\w.-]{1,64}){1,20}|\$\{[\w.!]+(?::?(?:-|[?+][^}]*))?\}|\$\{\{.*|\$\([^)]*\)?|`[^`]*`?|\{\{.*|<%.*|%(?:[-+#]?[svqdx]|\[\d\]\w|\{\w+\}|\(\w+\)s)|@[A-Z_]+@|\*[A-Za-z_][\w-]*)[,;:.)]?$/;
export const isReference = (value: string): boolean => value.length < 512 && REFERENCE.test(value);

/** The name service switch, kinds of tokens of etcd, cookies of Open vSwitch and of a kernel. */
const NSS =
  /^(?:(?:files|sss|systemd|compat|nis|nisplus|ldap|db|winbind|altfiles|mymachines|myhostname|extrausers|\[[^\]]{1,40}\])(?:\s+|$))+$/;
const ORDINARY: readonly { readonly name: RegExp; readonly value: RegExp }[] = [
  { name: /^passwd(?:_compat)?$/, value: NSS },
  { name: /auth-?token$/i, value: /^(?:simple|jwt(?:,.*)?)$/ },
  {
    name: /cookie$|^key[12]$|token$|auth$/i,
    value: /^0x[0-9a-f]{1,16}(?:\/0x[0-9a-f]{1,16}|\/-1)?$/i,
  },
  // A package; a service's port, of kpasswd; the hash of what a deployment depends on.
  { name: /^passwd$/, value: /^(?:de)?install$|^hold$/ },
  { name: /(?:^|\/)dep-[\w.-]{1,200}\.secret$/, value: /^[\w+/-]{6}==$/ },
  { name: /passwd$/, value: /^\d{1,5}\/(?:tcp|udp|sctp)$/ },
  // How kubectl describes what is in a Secret.
  { name: /./, value: /^\d{1,7} bytes$/ },
  // The shell's working directory.
  { name: /^(?:old)?pwd$/i, value: /^[/~]/ },
];

/** Longer values are judged by their beginning. */
const JUDGED = 512;

/** Under a name that is sometimes a secret's: random enough to be one, rather than an object's name or a word. */
export function looksRandom(whole: string): boolean {
  const value = whole.slice(0, JUDGED);
  if (UUID.test(value) || /^[0-9a-f]{32,}$/i.test(value)) return true;
  if (/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(value) || isUserAndPassword(value)) return true;
  if (/\s|^[a-z]+:\/\//.test(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/].filter((kind) => kind.test(value)).length;
  if (kinds === 3) return value.length >= 12 || isMixed(value);
  if (kinds < 2) return false;
  return isMixed(value) || (value.length >= 20 && !/^[a-z0-9./:_-]+$/.test(value));
}

/** One word in which letters and digits alternate, as in nothing that a person names. */
function isMixed(value: string): boolean {
  if (!/^[A-Za-z0-9]{10,}$/.test(value)) return false;
  return (value.match(/[a-z](?=\d)|\d(?=[a-z])/gi) ?? []).length >= 4;
}

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
    (value.length < 12 && (WORDS.has(value.toLowerCase()) || /^[\s*<>.-]*$/.test(value)))
  );
}

/** Letters and digits, as in no result of a test. */
const isMade = (value: string) =>
  /^\S{8,128}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value);

/** Whether the value under this name must be removed. */
export function isSecretValue(name: string, value: string): boolean {
  const sensitivity = sensitivityOf(name);
  if (sensitivity === 'never' || isNothing(value)) return false;
  if (isPath(value) || isReference(value)) return false;
  if (ORDINARY.some((each) => each.name.test(name) && each.value.test(value))) return false;
  return sensitivity === 'always' || looksRandom(value) || (/^pass$/i.test(name) && isMade(value));
}
