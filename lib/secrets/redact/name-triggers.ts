const words = (text: string) => text.split(' ');
const SHORT = words('pwd psk');
/** What stands after a short name. */
const AFTER = [...'=:"\'\\>\n,\x1b\0&_[', ' =', ' :', '  ', ' |', ' "', " '"];
/** The letter before "key" in names of secrets: `masterKey`, `apikey`. */
const BEFORE_KEY = [...'rtlyisngdehp_- '];

/** Every name that makes a value a secret contains one of these. */
export const NAME_TRIGGERS: readonly string[] = [
  ...words(
    'pass secret token credential _cred creds kennwort motdepasse contrasena senha wachtwoord bindpw rootpw masterauth authtok dockerc cookie signature wep-key wep_key mka-cak mka_cak key1 key2 _pwd -pwd _psk -psk code_verifier code-verifier codeverifier connectionstring auth _jwt key-data keybase',
  ),
  'psk ',
  ...BEFORE_KEY.map((letter) => `${letter}key`),
  ...SHORT.flatMap((name) => AFTER.map((after) => `${name}${after}`)),
  ...[' ', '_', '-', '\n', '"', "'"].flatMap((before) =>
    ['=', ':', ' ', '"', "'"].map((after) => `${before}pw${after}`),
  ),
].filter((text, index, all) => text.length >= 4 && all.indexOf(text) === index);
