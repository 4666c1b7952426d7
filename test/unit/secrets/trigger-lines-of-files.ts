import { SECRET } from './trigger-lines.ts';

const HEX = `0x${'0123456789abcdef'.repeat(4)}`;
const KEY = `${SECRET}/${SECRET}/${SECRET.slice(0, 9)}`;
const PUBLIC = 'A'.repeat(43);
const RECOVERY = `${'cbdefghi-'.repeat(7)}jklnrtuv`;

/** Lines of particular files and programs, in which only one trigger leads to the secret. */
export const FILE_LINES: readonly string[] = [
  // Assignments.
  `  pw = ${SECRET}`,
  `db_pw = ${SECRET}`,
  `db_pw  ${SECRET}`,
  `{ pw = "${SECRET}" }`,
  `[certs] Using certificate key:\n${SECRET}`,
  `--activationkey=${SECRET}`,
  `activation_key=${SECRET}`,
  `--activation-key ${SECRET}`,
  `code_verifier=${SECRET}`,
  `code-verifier=${SECRET}`,
  `codeVerifier=${SECRET}`,
  `userKey:${SECRET}`,
  `user_key:${SECRET}`,
  `adminKey:${SECRET}`,
  `admin_key:${SECRET}`,
  `APP_KEY=${SECRET}`,
  `appKey=${SECRET}`,
  // Lines below.
  `Private-Lines: 1\n${KEY}\n`,
  `-----BEGIN OpenVPN Static key V1-----\n${HEX.slice(2, 34)}\n`,
  `<auth-user-pass>\nme\n${SECRET}\n</auth-user-pass>\n`,
  `<<< 334 UGFzc3dvcmQ6\n>>> ${SECRET}\n`,
  // Tokens.
  `tailscale up --key tskey-auth-${SECRET}`,
  `https://api.telegram.org/bot1234567890:${SECRET}${SECRET}`,
  ...['sendgrid', 'smtp', 'authorization'].map(
    (name) => `${name} sent SG.${SECRET}.${SECRET}${SECRET}`,
  ),
  `https://${SECRET}:x-oauth-basic@host/path`,
  `curl https://idp/token?code=${SECRET}${SECRET}`,
  // Files.
  `me * ${SECRET} *`,
  `me\t*\t${SECRET}`,
  `"me" * "${SECRET}" *`,
  `"me"\t*\t"${SECRET}"`,
  `1 MD5 HEX:${SECRET}`,
  `1 SHA1 ASCII:${SECRET}`,
  `db:5432:app:me:${SECRET}`,
  `*:*:*:me:${SECRET}`,
  ...['SHA', 'SSHA', 'SHA256', 'SHA512', 'SSHA256', 'SSHA512', 'SMD5'].map(
    (kind) => `me:{${kind}}${SECRET}AAAA=`,
  ),
  `${SECRET},me,10,"system:masters"`,
  `${SECRET},kubelet-bootstrap,10`,
  `stats auth me:${SECRET}`,
  ...['RSA', 'ECDSA', 'P12', 'PKCS8', 'BLISS'].map((kind) => `: ${kind} me.pem "${SECRET}"`),
  ...['EAP', 'XAUTH', 'NTLM', 'PIN'].map((kind) => `me : ${kind} "correcthorse"`),
  `auth-trunc hmac(sha256) ${HEX} 128`,
  `auth hmac(sha1) ${HEX}`,
  ...['cbc(aes)', 'rfc3686(ctr(aes))', 'ecb(cipher_null)'].map((kind) => `enc ${kind} ${HEX}`),
  `aead rfc4106(gcm(aes)) ${HEX} 128`,
  `me@REALM (aes256-cts-hmac-sha1-96)  (${HEX})`,
  `${KEY}=\t${PUBLIC}=\t51820\toff`,
  `${PUBLIC}=\t${KEY}=\t192.168.7.1:51820`,
  `user me on >${SECRET} ~*`,
  `"AUTH" "me" "${SECRET}"`,
  `  user_me="${SECRET}";`,
  `[client.me] key:AQ${SECRET}${'A'.repeat(20)}==`,
  `jdbc:oracle:thin:me/${SECRET}@//host`,
  `;password={correcthorse ; x};`,
  `;pwd={correcthorse ; x};`,
  `mc alias set local http://host me ${SECRET}`,
  ...['","', "', '", '", "'].map(
    (joint) =>
      `mc${joint}alias${joint}set${joint}local${joint}http://host${joint}me${joint}${SECRET}`,
  ),
  `send "${SECRET}\\r"`,
  `send -- "${SECRET}\\r"`,
  ...['PDO->__construct', 'mysqli->__construct', 'mysqli_connect'].map(
    (name) => `#0 x.php(1): ${name}('host', 'me', '${SECRET}')`,
  ),
  `KEY=base64:${SECRET}AAAAAA`,
  `\u{1f510} ${RECOVERY}`,
  `recovery key ${RECOVERY}`,
  `the one-time password ${SECRET} expires`,
];
