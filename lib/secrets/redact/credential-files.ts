import type { Pattern } from './pattern.ts';
import { looksRandom } from './values.ts';

const HAS_DIGIT = /\d/;

/** Lines of particular files and programs that write a secret without a name. */
// biome-ignore format: a table, one shape in each line
export const CREDENTIAL_FILES: readonly Pattern[] = [
  // chap-secrets and pap-secrets of PPP: client, server, secret, addresses.
  { triggers: ['* ', '*\t', '*"'], find: /(?<=^\s{0,8}(?:"[^"\s]{1,128}"|[\w@.-]{1,128})["\s]{1,8})\*["\s]{1,8}(?=\S{4,256}\s{1,8}["*\d]|\S{0,256}\d)(?<secret>[^\s"*]{4,256})"?(?=\s{1,8}(?:\*|"\*"|[\d.]{7,15})?\s{0,8}(?:#.*)?$|\s{0,8}$)/dy },
  // Keys of chrony and NTP.
  { triggers: [' hex:', ' ascii:'], find: /(?<=\d\s{1,8}(?:MD5|SHA\d{1,3}|AES\d{1,3}(?:CMAC)?|\d))\s(?<secret>(?:HEX|ASCII):\S{4,512})/diy },
  // .pgpass: host, port, database, user, password; one of them is a wildcard, or the port is the usual one.
  { triggers: ['5432:', '*:'], find: /(?<=(?:^|\s)(?=[\w.*-]{1,253}:(?:\d{1,5}|\*):(?:[\w*.-]{1,64}:){2}(?<secret>[^\s*](?:[^\s:\\]|\\.){3,255})\s{0,8}$)(?:[\w.*-]{1,253}:){0,3})(?:5432|\*):/dy },
  // htpasswd and LDAP: a hash.
  { triggers: ['{sha}', '{ssha}', '{sha256}', '{sha512}', '{ssha256}', '{ssha512}', '{md5}', '{smd5}'], find: /\{S?(?:SHA(?:256|512)?|MD5)\}(?<secret>[A-Za-z0-9+/]{20,256}={0,2})/diy },
  // Static tokens of an API server: token, user, UID, groups.
  { triggers: [',"system:'], find: /(?<=(?<secret>[^\s,"]{8,256}),[\w:.@-]{1,128},[\w-]{1,64}),"/dy, isSecret: (secret) => HAS_DIGIT.test(secret) },
  { triggers: [',kubelet-bootstrap,'], find: /(?<=(?<secret>[^\s,"]{8,256})),kubelet-bootstrap,[\w-]{1,64}(?=,"|\s{0,8}$)/dy, isSecret: (secret) => HAS_DIGIT.test(secret) },
  // HAProxy's page of statistics.
  { triggers: ['stats auth '], find: /stats auth\s{1,8}[^\s:]{1,64}:(?<secret>\S{1,256})/diy },
  // ipsec.secrets: the passphrase of a key, the password of a user.
  { triggers: [': rsa ', ': ecdsa ', ': p12 ', ': pkcs8 ', ': bliss '], find: /: (?:RSA|ECDSA|P12|PKCS8|BLISS)\s{1,8}\S{1,256}\s{1,8}"(?<secret>[^"]{1,256})"/dy },
  { triggers: [': eap ', ': xauth ', ': ntlm ', ': pin '], find: /: (?:EAP|XAUTH|NTLM|PIN)\s{1,8}(?:"(?<secret>[^"]{1,256})"|(?<secret>[^\s"%]{4,256}))\s{0,8}$/dy },
  // Keys of IPsec in the kernel.
  { triggers: ['auth-trunc ', 'enc cbc', 'enc rfc', 'enc ecb', 'auth hmac', 'aead '], find: /(?:auth(?:-trunc)?|enc|aead)\s{1,4}[\w()"-]{1,64}\s{1,4}(?<secret>0x[0-9a-f]{16,256})/diy },
  // A key in a keytab.
  { triggers: [' (0x'], find: /(?<=\((?:aes|des|arcfour|camellia|rc4)[\w-]{1,64}\)\s{0,8}) \((?<secret>0x[0-9a-f]{16,256})\)/diy },
  // `wg show INTERFACE dump`: private and public key and port; a peer's preshared key.
  { triggers: ['=\t'], find: /(?<=(?<![\w+/])(?<secret>[A-Za-z0-9+/]{43}))=\t[A-Za-z0-9+/]{43}=\t\d{1,5}\s/dy },
  { triggers: ['=\t'], find: /=\t(?<secret>[A-Za-z0-9+/]{43}=)\t(?:\[|\d{1,3}\.|\(none\))/dy },
  // Users of Redis, and what a client sends.
  { triggers: ['user '], find: /user \S{1,64} (?:(?:on|off|reset\w{0,8}|[~&+-]\S{1,64}) ){1,8}[>#](?<secret>\S{4,256})/diy },
  { triggers: ['"auth" "'], find: /"auth" "(?:[^"]{1,128}" ")?(?<secret>[^"]{1,256})"(?!\s")/diy },
  // Users of a Kafka broker, in its JAAS configuration.
  { triggers: ['user_'], find: /(?<=^\s{0,80}|\s)user_(?!name|id|agent|group|home|data|dir)[a-z][\w-]{0,40}="(?<secret>[^"\s]{4,256})"(?=\s{0,8};?\s{0,8}(?:\\?$|user_|["}\\]))/dy },
  // A key of Ceph.
  { triggers: ['key = aq', 'key: aq', 'key:aq', 'key=aq', 'key":"aq', 'key": "aq'], find: /key"?\s?[=:]\s?"?(?<secret>AQ[A-Za-z0-9+/]{34,40}={0,2})/diy },
  // A user and a password in an address of Oracle; a value in braces of SQL Server.
  { triggers: [':thin:'], find: /:thin:[\w$#-]{1,64}\/(?<secret>[^\s@"']{1,256})@/diy },
  { triggers: ['password={', 'pwd={'], find: /(?:password|pwd)=\{(?<secret>[^\s{}"][^{}"]{0,127})\}/diy },
  // `mc alias set NAME URL USER PASSWORD`
  { triggers: ['alias set', 'alias","set', "alias', 'set", 'alias", "set'], find: /alias["',\s]{1,5}set["',\s]{1,5}(?:--\w{1,16}["',\s]{1,5})?[\w-]{1,64}["',\s]{1,5}https?:\/\/[^\s"',]{1,256}["',\s]{1,5}[^\s"',]{1,128}["',\s]{1,5}(?<secret>[^\s"',]{4,256})/diy },
  // What a script of expect types; arguments of a constructor in a stack of PHP.
  { triggers: ['send "', 'send -- "'], find: /send (?:-- )?"(?<secret>[^"\s\\]{6,128})\\[rn]"/dy, isSecret: (secret) => HAS_DIGIT.test(secret) && /[a-z]/i.test(secret) },
  { triggers: ['pdo->__construct(', 'mysqli->__construct(', 'mysqli_connect('], find: /(?:PDO->__construct|mysqli->__construct|mysqli_connect)\('[^']{1,128}', '[^']{1,128}', '(?<secret>[^']{1,256})'/diy },
  // A key of a framework; a recovery key of systemd-cryptenroll.
  { triggers: ['key=base64:'], find: /key=base64:(?<secret>[A-Za-z0-9+/]{22,256}={0,2})/diy },
  { triggers: ['\xf0\x9f\x94\x90', 'recovery key'], find: /(?<secret>(?:[cbdefghijklnrtuv]{8}-){7}[cbdefghijklnrtuv]{8})/dg, around: { before: 0, after: 300 } },
  // The key of a service that signs web tokens.
  { triggers: ['jwt"', 'jwt\\', 'jwt:', 'jwt.'], find: /(?<![\w-])key\\{0,15}["']?\s{0,4}[:=]\s{0,4}\\{0,15}["']?(?<secret>[\w+/=.-]{16,256})/dgi, around: { before: 0, after: 300 }, isSecret: looksRandom },
  // The code of OAuth that is exchanged for a token.
  { triggers: ['code='], find: /(?<=[?&\s"'])code=(?<secret>[\w.~-]{20,2048})/diy, isSecret: (secret) => looksRandom(secret) || /[0-9a-f]{8}-[0-9a-f]{4}-/.test(secret) },
];
