import { COMMANDS } from './commands.ts';
import { isSecretUrl } from './data-urls.ts';
import type { Pattern } from './pattern.ts';
import { START, TOKENS } from './tokens.ts';
import { isReference, isUserAndPassword, looksRandom } from './values.ts';

/** "Bearer credentials", "digest verified." */
const isWord = (text: string) => /^[A-Z]?[a-z]+(?:[-/.][a-z]+)*\.?$/.test(text) && text.length < 32;
const isCredentials = (text: string) =>
  !isWord(text) &&
  !/^[a-z]+(?:_[a-z]+)*=$/.test(text) &&
  !isReference(text) &&
  !isReference(`${text}}`);
const looksMade = (text: string) => /\d/.test(text) && !/^[\d.]+$/.test(text);

const AUTHORIZATION =
  'authorization\\\\{0,15}["\']?\\s{0,8}(?:=>|[:=,])\\s{0,8}\\[?\\\\{0,15}["\']?';
const BLANK = '(?:\\s{1,8}|%20|\\+)\\[?\\\\{0,15}["\']?';
const CREDENTIALS = '(?:[^\\s"\'\\\\,\\]})&]|&(?![\\w.-]{1,40}=)){6,16384}';
const PROSE =
  /^(?:header|required|missing|failed|denied|granted|expired|invalid|request|review|policy|policies|check)[.:]?$/i;

const LOOKED_AT = { before: 200, after: 400 };

// biome-ignore format: a table, one shape in each line
export const PATTERNS: readonly Pattern[] = [
  // The password in a URL; not a port, and not the tag of an image before its digest.
  { triggers: ['://'], find: /:\/\/[^\s/:@"'<>]{0,256}:(?!\d{1,5}(?:[/,;?#\\]|$))(?<secret>[^\s/"'<>\\]{1,1024})@(?!sha\d+:)/dy },
  // Of a database, also with characters that had to be encoded: up to the last @.
  { triggers: ['mongodb', 'postgres', 'mysql:', 'mariadb:', 'redis:', 'rediss:', 'amqp'], find: /(?:mongodb(?:\+srv)?|postgres(?:ql)?|mysql|mariadb|rediss?|amqps?):\/\/[^\s:/"'<>@]{0,256}:(?<secret>[^\s"'<>\\]{1,1024})@(?=[\w.[-])/diy },
  // A token alone before the @, or with a word for a password.
  { triggers: ['://'], find: /:\/\/(?<secret>[\w-]{16,512})(?::[\w-]{0,64})?@/dy, isSecret: looksRandom },
  // Without a scheme: a proxy's by its name, any by the port; a target of iSCSI; of the initiator, also its own.
  { triggers: ['proxy=', 'proxy =', 'proxy:', 'proxy"', "proxy'", 'proxy\\'], find: /proxy\\{0,15}["']?\s{0,8}[:=]\s{0,8}\\{0,15}["']?[^\s:@/"'<>]{1,128}:(?<secret>[^\s/"'\\<>]{1,256})@/diy },
  { triggers: ['iscsi:'], find: /iscsi:[^\s:@"']{1,256}:(?<secret>[^\s@"']{1,512})@/diy },
  // `user:password@host:port`; lower-case letters alone are a user.
  { triggers: ['@'], find: /(?<=(?:^|[\s"'`=,([{<|\0])(?!(?:https?|mailto|sips?|xmpp|acct|im|ssh|git|docker|oci|pkg|npm):)[A-Za-z0-9][\w.-]{0,63}:(?<secret>(?![a-z][a-z._-]+@[\w.-]+:)[^\s:"'/\\]{1,128}))@(?!sha\d+:)(?=(?:[A-Za-z0-9][\w.-]{0,253}|\[[\da-f:]{2,40}\]):\d{2,5}(?!\w))/dy },
  // The same as Go's MySQL driver writes it.
  { triggers: ['@tcp(', '@unix('], find: /(?<=[^\s"':@/]:(?<secret>[^\s"'/]{1,200}))@(?:tcp|unix)\(/dy },
  { triggers: ['bearer', 'negotiate '], find: /(?:bearer|negotiate)\\{0,15}["']?(?:\s{1,8}|%20|\+)\[?\\{0,15}["']?(?<secret>[\w.~+/-]{6,16384}={0,2})/diy, isSecret: isCredentials },
  { triggers: ['basic ', 'basic%20', 'basic+'], find: /basic(?: {1,8}|%20|\+)(?<secret>[A-Za-z0-9+/]{4,4096}={0,2})/diy, isSecret: isUserAndPassword },
  // Any other scheme; of a digest only the response to a challenge is a secret.
  { triggers: ['authorization'], find: new RegExp(`${AUTHORIZATION}(?:token|api-?key|key|secret|bot|splunk|session|pat)${BLANK}(?<secret>${CREDENTIALS})`, 'diy'), isSecret: (secret) => !PROSE.test(secret) && !isReference(secret) && !isReference(`${secret}}`) },
  { triggers: ['authorization'], find: new RegExp(`${AUTHORIZATION}[a-z][\\w-]{1,40}${BLANK}(?<secret>${CREDENTIALS})`, 'diy'), isSecret: (secret) => isCredentials(secret) && !/^username=/i.test(secret) },
  // In a configuration, without a colon.
  { triggers: ['authorization '], find: /authorization\s{1,8}(?:splunk|bearer|basic|token|api-?key)\s{1,8}["']?(?<secret>[^\s"']{6,4096})/diy, isSecret: (secret) => isCredentials(secret) && !PROSE.test(secret) },
  { triggers: ['response="', 'response=\\"'], find: /response=\\{0,7}"(?<secret>[0-9a-f]{32,128})/diy },
  { triggers: ['signature=', 'signature":'], find: /signature\\{0,7}"?[=:]\s?\\{0,7}"?(?<secret>[A-Za-z0-9+/%=_-]{32,1024})/diy },
  // All of a browser's cookies; a boot loader's or D-Bus's is a number.
  { triggers: ['cookie'], find: /cookie\\{0,15}["']?\s{0,8}[:=]\s{0,8}\[?\\{0,15}["']?(?<secret>[\w.-]{1,256}=[^\r\n"\]\\]{4,16384})/diy },
  // A JSON web token or encrypted key, such as a service account's.
  { triggers: [...'ahi0rljp461'].map((third) => `eyj${third}`), find: new RegExp(`${START}(?<secret>eyJ[\\w-]{8,16384}\\.[\\w-]{0,16384}\\.[\\w-]{8,16384}(?:\\.[\\w-]{0,16384}){0,2})`, 'dy') },
  { triggers: ['hooks.slack.com'], find: /hooks\.slack\.com\/services\/(?<secret>\w{6,32}\/\w{6,32}\/\w{16,64})/dy },
  ...TOKENS,
  // The token with which a K3s node joins.
  { triggers: ['::server:', '::node:'], find: /::(?:server|node):(?<secret>[^\s"']{8,256})/dy },
  // The signature of an Azure storage URL.
  { triggers: ['?sig=', '&sig=', ';sig=', '6sig='], find: /[?&;6]sig=(?<secret>[^\s&"']{16,512})/diy },
  // A hash of /etc/shadow.
  { triggers: ['$1$', '$5$', '$6$', '$y$j', '$gy$', '$7$', '$2a$', '$2b$', '$2y$', '$apr1$'], find: new RegExp(`${START}(?<secret>\\$(?:1|5|6|y|gy|7|2[aby]|apr1)\\$[./A-Za-z0-9$=,+-]{8,512})`, 'dy') },
  // A file of an Ignition config of which nothing can be shown; other files are searched like any text.
  { triggers: ['data:,', 'data:;', 'data:text/', 'data:application/'], find: /(?<![\w-])data:(?:[\w.+-]{1,64}\/[\w.+-]{1,64})?(?:;[\w=-]{1,64}){0,4},(?<secret>[^\s"'\\<>()]{4,1048576})/diy, isSecret: (_, url) => isSecretUrl(url) },
  // Keys of WireGuard and Consul.
  { triggers: ['private key: ', 'encrypt = "', 'encrypt": "', 'encrypt":"'], find: /(?:private key|encrypt"?)\s?[:=]\s?"?(?<secret>[A-Za-z0-9+/]{43}=)/diy },
  // An SNMP community; the two that everybody knows are not secrets.
  { triggers: ['community'], find: /(?<=(?:\br[ow]|trap|snmp-server\s))community6?\s{1,8}["']?(?<secret>[^\s"']{4,256})/diy, isSecret: (secret) => !/^(?:public|private|strings?)$/i.test(secret) },
  { triggers: ['com2sec'], find: /com2sec6?\s{1,8}(?:-Cn\s{1,8}\S{1,64}\s{1,8})?[\w.-]{1,64}\s{1,8}[\w.:/-]{1,64}\s{1,8}["']?(?<secret>[^\s"']{4,256})/diy, isSecret: (secret) => !/^(?:public|private)$/i.test(secret) },
  // A password of grub2-mkpasswd.
  { triggers: ['grub.pbkdf2'], find: /(?<secret>grub\.pbkdf2\.[\w.]{32,2048})/diy },
  { triggers: ['identified '], find: /identified\s{1,8}(?:with\s{1,8}["'`\w]{1,64}\s{1,8}(?:by|as)|by)\s{1,8}(?:password\s{1,8})?\\{0,7}(?:'(?<secret>[^'\\]{1,256})|"(?<secret>[^\s"\\]{1,256}))/diy },
  // A kubeadm bootstrap token.
  { triggers: ['token'], find: /(?<![\w.-])(?<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?![\w.-])/dg, around: LOOKED_AT, isSecret: looksMade },
  // The password of kubeadmin that an installer makes.
  { triggers: ['kubeadmin', 'password'], find: /(?<![\w-])(?<secret>[A-Za-z0-9]{5}(?:-[A-Za-z0-9]{5}){3})(?![\w-])/dg, around: LOOKED_AT, isSecret: (secret) => /[A-Z]/.test(secret) && /[a-z]/.test(secret) },
  // The private part of a JSON web key.
  { triggers: ['"kty"', '"kty\\'], find: /\\{0,7}"(?:d|p|q|dp|dq|qi|k)\\{0,7}"\s{0,4}:\s{0,4}\\{0,7}"(?<secret>[\w-]{20,1024})\\{0,7}"/dg, around: { before: 8192, after: 8192 } },
  ...COMMANDS,
  // htpasswd and LDAP: a hash.
  { triggers: ['{sha}', '{ssha}', '{sha256}', '{sha512}', '{ssha256}', '{ssha512}', '{md5}', '{smd5}'], find: /\{S?(?:SHA(?:256|512)?|MD5)\}(?<secret>[A-Za-z0-9+/]{20,256}={0,2})/diy },
  // A user and a password in an address of Oracle; a value in braces of SQL Server.
  { triggers: [':thin:'], find: /:thin:[\w$#-]{1,64}\/(?<secret>[^\s@"']{1,256})@/diy },
  { triggers: ['password={', 'pwd={'], find: /(?:password|pwd)=\{(?<secret>[^\s{}"][^{}"]{0,127})\}/diy },
];
