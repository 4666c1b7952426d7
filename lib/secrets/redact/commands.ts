import type { Pattern } from './pattern.ts';
import { isNothing, isReference } from './values.ts';

/** Between an option and its value, also in a list, or in /proc. */
const GAP = '(?:[\\s\\0]{1,8}|\\\\{0,7}["\'],\\s{0,4}|=)';
const BEFORE = '[\\s\\0"\'\\[]';
/** In quotes or not. */
const VALUE =
  '(?:\\\\{0,7}["\'](?<secret>[^"\'\\\\]{1,256})|(?<secret>[^\\s"\'\\0\\\\|;&<>-][^\\s"\'\\0\\\\|;&<>]{0,255}))';

const isGiven = (secret: string) => !isReference(secret) && !isNothing(secret);

/** The rest of a command line after the name of its program. */
const ARGUMENTS = { before: 0, after: 600 };

/** `option`: what stands before the value, with all its blanks. */
const afterProgram = (triggers: readonly string[], option: string): Pattern => ({
  triggers,
  find: new RegExp(`${BEFORE}${option}${VALUE}`, 'dg'),
  around: ARGUMENTS,
  isSecret: isGiven,
});

/** At the trigger itself. */
const at = (triggers: readonly string[], before: string): Pattern => ({
  triggers,
  find: new RegExp(before + VALUE, 'dy'),
  isSecret: isGiven,
});

const WORDS = '(?:-\\w{1,8}\\s{1,8}){0,4}';
const USER = '(?:[a-z_][\\w.-]{0,64}:(?=[^\\s"\']))?';
const READER =
  '(?:chpasswd|passwd\\s{1,8}--stdin|--password-stdin|sudo\\s{1,8}-S|cryptsetup|kinit)';

/** An address of socat, a format of date. */
const NOT_USER = /-[uU]\s{1,8}(?:["']?\+%|(?:[A-Z][A-Z\d-]*|exec|open|file|create|pipe|stdout):)/;

/** Passwords in command lines whose options say nothing of it. */
// biome-ignore format: a table, one shape in each line
export const COMMANDS: readonly Pattern[] = [
  // `-pPASS`, and nothing else.
  afterProgram(['mysql', 'mariadb', '7z a', '7z x'], '-p'),
  afterProgram(['mongo', 'sshpass', 'useradd', 'usermod', 'racadm', 'fence_'], `-p${GAP}?`),
  afterProgram(['login ', 'login"', "login'", 'login\0'], `-p${GAP}`),
  afterProgram(['ldapsearch', 'ldapmodify', 'ldapadd', 'ldapdelete', 'ldapwhoami'], `-w${GAP}?`),
  afterProgram(['redis-cli'], `-a${GAP}`),
  afterProgram(['ipmitool', 'mosquitto_', 'sqlcmd', 'unzip '], `-P${GAP}?`),
  afterProgram(['snmpget', 'snmpwalk', 'snmpset', 'snmpbulk', 'snmptrap'], `-[AXc]${GAP}`),
  afterProgram(['auth.password'], `(?:-v|--value)${GAP}`),
  at(['htpasswd'], `htpasswd\\s{1,8}(?:-\\w{1,8}\\s{1,8}){0,4}-\\w{0,8}b\\w{0,8}\\s{1,8}(?:[\\w./-]{1,256}\\s{1,8}(?=\\S{1,256}\\s{1,8}[^\\s<>|]))?[\\w.@-]{1,256}\\s{1,8}`),
  at(['wpa_passphrase '], 'wpa_passphrase\\s{1,8}(?:"[^"]{1,64}"|\\S{1,64})\\s{1,8}'),
  at(['vault login ', 'vault operator unseal ', 'vault unwrap '], `vault (?:login|operator unseal|unwrap) (?:-\\S{1,64}\\s){0,4}(?:token=)?`),
  at(['rootpw --'], 'rootpw (?:--\\w{1,20}\\s{1,8}){1,4}'),
  at(['-passin', '-passout'], `-pass(?:in|out)[\\s=\\0]{1,8}["']?pass:`),
  // A user and a password in one word.
  { triggers: [' -u ', '\0-u\0', '--user', '--proxy-user', '--creds', '--src-creds', '--dest-creds', '"-u"'], find: new RegExp(`(?:[\\s\\0"]?-[uU]|--user|--proxy-user|--(?:src-|dest-)?creds)${GAP}\\\\{0,7}["']?[^\\s:%"'\\0]{1,256}[:%](?<secret>[^\\s"'\\0]{1,1024})`, 'dy'), isSecret: (secret, whole) => !/^(?:\d{1,6}$|[/$])|,/.test(secret) && !NOT_USER.test(whole) && isGiven(secret) },
  // The same without a blank, also behind options without values, then with a blank, too: `-ku`.
  afterProgram(['curl'], '-[A-Za-z]{0,8}[uU][\\s\\0"\',]{0,8}[\\w.@-]{1,256}:'),
  // What a program reads from its standard input; of a line for chpasswd, the user stays.
  { triggers: ['echo ', 'printf '], find: new RegExp(`(?:echo|printf)\\s{1,8}${WORDS}(?:["']%s\\\\n["']\\s{1,8})?["']?${USER}(?<secret>[^"'|\\\\]{1,256}?)(?:\\\\n)?["']?\\s{0,8}\\|(?!\\s?grep)[^|\\n]{0,160}?${READER}`, 'dy'), isSecret: isGiven },
  { triggers: ['<<<'], find: new RegExp(`(?<=${READER}[^<|\\n]{0,200})<<<\\s{0,8}\\$?["']?${USER}(?<secret>[^"'\\\\\\n]{1,256})`, 'dy'), isSecret: isGiven },
  // The values of a Secret that is created.
  { triggers: ['--from-literal'], find: /(?<=create\s{1,8}secret\s.{0,600})--from-literal(?:=|\s{1,8}|["'],\s{0,4}["'])["']?[-.\w]{1,253}=["']?(?<secret>[^\s"'\0]{1,1024})/dy, isSecret: isGiven },
];
