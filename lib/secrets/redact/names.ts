import { isNothing, isOrdinary, isPath, isReference, looksLikeSecret } from './values.ts';

/** `always`: whatever the value is; `by-value`: only what looks like a secret. */
export type Sensitivity = 'always' | 'by-value' | 'never';

const list = (words: string) => words.split(' ');
const set = (words: string) => new Set(list(words));

/**
 * What a name ends with if its value is a secret, whatever it is. Names are compared in lower case and
 * without signs, from the end: of `aws_secret_access_key` the last letters are `accesskey`.
 */
const ALWAYS = list(
  'password passwords passwd passphrase passphrases passwordhash pwd clientsecret secretkey accesskey sharedkey accountkey privatekey clientkeydata accesstoken refreshtoken idtoken identitytoken registrytoken sessiontoken authtoken bearertoken securitytoken bootstraptoken tokensecret apitoken vaulttoken privatetoken apikey encryptionkey encryptionkeysecret masterkey fernetkey unsealkey recoverykey psk passwordvalue wepkey0 wepkey1 wepkey2 wepkey3 mkacak dockerconfigjson dockercfg dockerauthconfig pullsecret amzsignature googsignature requirepass masterauth bindpw rootpw authtok passwordin secretkeybase reviewerjwt passcode authkey activationkey codeverifier passwort kennwort motdepasse contrasena senha wachtwoord',
);
/** The same of names that ordinary things have too: a Secret's own name, a kind of token, a cookie of D-Bus. */
const SOMETIMES = list(
  'token tokens tokenvalue secretvalue secret secrets auth credential credentials creds authorization cookie pass key1 key2 certificatekey userkey adminkey appkey routingkey servicekey integrationkey jwtkey signingkey secretid licensekey hmackey cipherkey storagekey sessionkey deploykey cryptokey symmetrickey webhookkey connectionstring',
);
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
/** Names that end like one of the above but are not secrets. */
const NEVER = set(
  'nopasswd initialclustertoken continuetoken nextpagetoken pagetoken canceltoken compass bypass basepasswd',
);

/** Words that say more of the same secret: `DB_PASSWORD_NEW`, `token_value`, `password1`. */
const MORE_OF_IT = set(
  'value values new old current previous prev next prod production dev development staging primary secondary default plain plaintext text raw base64 b64 string str data main backup env var input in confirm confirmation repeat again encoded encrypted hash hashed md5 sha256 sha512 crypt',
);
/** Words of other things that a secret has: its file, its name, its age. */
const OTHERS = set(
  'file files path paths name names ref refs reference ttl type types policy policies length expiry expires expiration expired url uri urls endpoint issuer audience audiences algorithm alg mount mounts namespace count min max age enabled enable required require reset changed hint prompt provider providers method mode flags command cmd helper rotation interval timeout version size manager store controller request requests review reviews reviewer webhook cache format encoding dir directory folder selector source field column label labels usage status state error errors failure failed invalid verify verified verification less agent based authentication grant list class kind keyring quality last ends generator generation exists set missing auth cleaner signer used only user users username service account server host port group role projection projected volume volumes driver template uid permission permissions header index lifetime seconds minutes hours days bytes bits id ids identifier prefix suffix pattern regex rule rules help description title comment message msg info event events handler check checks test lock unlock max_age public pub',
);
const SECRET_WORD =
  /^(?:pass(?:word|wd|phrase|code)s?|pwd|psk|secrets?|tokens?|credentials?|creds|passwort|kennwort|apikey)$/;

const MAX_NAME = 200;
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
  if (name.length > MAX_NAME) return 'never';
  const whole = ofEnd(name);
  if (whole !== undefined) return whole;
  const words = wordsOf(name);
  if (!words.some((word) => SECRET_WORD.test(word) || word === 'key')) return 'never';
  // Without what is added to it, it may end like one of the lists.
  let end = words.length;
  while (end > 1 && isMoreOfIt(words[end - 1])) end--;
  const shorter = end === words.length ? undefined : ofEnd(words.slice(0, end).join('_'));
  if (shorter !== undefined) return shorter;
  const at = words.findLastIndex((word) => SECRET_WORD.test(word));
  return at === -1 || words.slice(at + 1).some((word) => OTHERS.has(word)) ? 'never' : 'by-value';
}

const isMoreOfIt = (word = '') => MORE_OF_IT.has(word) || /^\d{1,4}$/.test(word);

/** By the end of the whole name. */
function ofEnd(name: string): Sensitivity | undefined {
  const plain = name.toLowerCase().replace(/[^a-z0-9]|(?<=key)s$/g, '');
  if (NEVER.has(plain)) return 'never';
  const isAlways =
    ALWAYS.some((end) => plain.endsWith(end)) || MORE.some((shape) => shape.test(name));
  if (isAlways) return 'always';
  return SOMETIMES.some((end) => plain.endsWith(end)) ? 'by-value' : undefined;
}

/** The words of `DB_PASSWORD_NEW`, `secretValue` and `password1`, in lower case. */
const wordsOf = (name: string): string[] =>
  (name.replace(/b(?:ase)?64/i, '').match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((word) =>
    word.toLowerCase(),
  );

/** A fault of a field, as schemas tell it. */
const IS_TOLD = /^expected(?: |$)/;

/** Whether the value under this name must be removed. */
export function isSecretValue(
  name: string,
  value: string,
  sensitivity = sensitivityOf(name),
): boolean {
  if (sensitivity === 'never' || isNothing(value) || IS_TOLD.test(value)) return false;
  if (isPath(value) || isReference(value) || isOrdinary(name, value)) return false;
  return (
    sensitivity === 'always' ||
    looksLikeSecret(value) ||
    (/^pass$/i.test(name) && /^\S{8,128}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value))
  );
}

/** What stands after a short name. */
const AFTER = [...'=:"\'\\>\n,\x1b\0&_[', ' =', ' :', '  ', ' |', ' "', " '"];
/** The letter before "key" in names of secrets: `masterKey`, `apikey`. */
const BEFORE_KEY = [...'rtlyisngdehp_- '];

/** Every name that makes a value a secret contains one of these. */
export const NAME_TRIGGERS: readonly string[] = [
  ...list(
    'pass secret token credential _cred creds kennwort motdepasse contrasena senha wachtwoord bindpw rootpw masterauth authtok dockerc cookie signature wep-key wep_key mka-cak mka_cak key1 key2 _pwd -pwd _psk -psk code_verifier code-verifier codeverifier connectionstring auth _jwt key-data keybase',
  ),
  'psk ',
  ...BEFORE_KEY.map((letter) => `${letter}key`),
  ...['pwd', 'psk'].flatMap((name) => AFTER.map((after) => `${name}${after}`)),
  ...[' ', '_', '-', '\n', '"', "'"].flatMap((before) =>
    ['=', ':', ' ', '"', "'"].map((after) => `${before}pw${after}`),
  ),
].filter((text, index, all) => text.length >= 4 && all.indexOf(text) === index);
