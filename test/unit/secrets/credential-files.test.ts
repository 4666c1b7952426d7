import t from 'tap';
import { expectMarked } from './marked.ts';

const HEX = '0123456789abcdef';
const KEY = `${'kyxp62b9ef0exrxt19ci5wxy'.repeat(2).slice(0, 42)}8`;
const RECOVERY = `${'cbdefghi-'.repeat(7)}jklnrtuv`;

t.test('secrets of PPP, chrony and PostgreSQL', async (t) => {
  await expectMarked(t, [
    '# client server secret\nme * «calvin» *\n"me" * "«calvin»" *\nme\t*\t«calvin7»\nme * «calvin» 192.168.7.10 # words\n',
    'me * «calvin» "*"\n  me@isp.example * «calvin7»  \n',
    'branch * «calvin-dial-in-5» *\nbranch  *  «calvin5dialin»  *\n"me" "*" "«calvin7»"\nme \t * \t "«calvin»"\t*\n',
    'me * words more words\nme other words *\nme * abc *\nfoo bar * calvin *\nme * calvin 12\n',
    '1 MD5 «HEX:B028»\n',
    '7 SHA256 «HEX:0B4F77»\n8 AES128 «ASCII:words»\n9 AES256CMAC «hex:0B4F77»\n3 1 «ASCII:words»\n',
    'key SHA256 HEX:0B4F77\n7 MD4 HEX:0B4F77\n7 SHA256 HEX:0B4\n7 SHA256 HEX: words\n',
    'db.example:5432:app:me:«calvin»\n*:*:*:me:«with\\:colon» \n10.9.1.4:*:*:*:«calvin»\n  localhost:5432:*:me:«calvin»\n',
    'db:*:app:me:«calvin5dialin»\n*:5433:app:me:«calvin»\ndb:5433:*:me:«calvin»\ndb:5433:app:*:«calvin»\n',
    'db:*:app:calvin\n*:words:app:me:calvin\na:db:*:app:me:calvin\ntcp *:22 *:* calvin\nx*:5433:app:me:calvin\n',
    'db:5432:app:me:abc\ndb:5432:app:me:*abc\ndb:5432:app:calvin\ndb:5432:app:me:calvin:more\ndb:5432:app:me:calvin words\n',
  ]);
});

t.test('hashes and tokens of users', async (t) => {
  await expectMarked(t, [
    ...['SHA', 'SSHA', 'SHA256', 'SHA512', 'SSHA256', 'SSHA512', 'SMD5', 'MD5', 'ssha'].map(
      (kind) => `me:{${kind}}«${KEY}=»\n`,
    ),
    `me:{SHA}${KEY.slice(0, 19)}\nme:{SHA1}${KEY}\nme:{CRYPT}${KEY}\n`,
    '«calvin-R740»,me,10,"system:masters"\n«calvin-R740»,kubelet-bootstrap,10\n',
    '«calvin-R740»,system:node:a,uid-7,"system:nodes,more"\n',
    'words-only,me,10,"system:masters"\ncalvin7,me,10,"system:masters"\n',
    'calvin-R740,me,"system:masters"\n',
    `«calvin-R740»,${'m'.repeat(128)},10,"system:masters"\n`,
    `«${'c4lvin-R'.repeat(32)}»,${'m'.repeat(128)},${'1'.repeat(64)},"system:masters"\n`,
    'calvin-R740,me,10,"words","system:masters"\n',
    '«calvin-R740»,kubelet-bootstrap,10,"words"\nwords-only,kubelet-bootstrap,10\n',
    'calvin-R740,kubelet-bootstrap,10 words\ncalvin7,kubelet-bootstrap,10\n',
  ]);
});

t.test('HAProxy, IPsec and keytabs', async (t) => {
  await expectMarked(t, [
    '  stats auth me:«calvin»\n  stats  auth me:words\n  stats auth me\n',
    ...['RSA', 'ECDSA', 'P12', 'PKCS8', 'BLISS'].map((kind) => `: ${kind} me.pem "«two words»"\n`),
    ': RSA me.pem words\n: RSA me.pem\n: DSA me.pem "calvin"\n: rsa me.pem "words"\n',
    ...['EAP', 'XAUTH', 'NTLM', 'PIN'].map((kind) => `me : ${kind} "«two words»"\n`),
    'me : EAP «calvin» \n: PIN %prompt\n: PIN 123\n: EAP two words\n',
    `auth-trunc hmac(sha256) «0x${HEX}» 128\nauth hmac(sha1) «0x${HEX}»\nenc cbc(aes) «0x${HEX}»\n`,
    `enc rfc3686(ctr(aes)) «0x${HEX}»\nenc ecb(cipher_null) «0x${HEX}»\naead rfc4106(gcm(aes)) «0x${HEX}» 128\n`,
    `enc cbc(aes) 0x0123\nauth hmac(sha1) ${HEX}\nenc gcm(aes) 0x${HEX}\n`,
    ...['aes256-cts', 'des3-cbc', 'arcfour-hmac', 'camellia128-cts', 'rc4-hmac'].map(
      (kind) => `me@REALM (${kind})  («0x${HEX}»)\n`,
    ),
    `me@REALM (aes256-cts) (0x0123)\nme@REALM (other) (0x${HEX})\nme@REALM (0x${HEX})\n`,
  ]);
});

t.test('WireGuard, Redis, Kafka and Ceph', async (t) => {
  await expectMarked(t, [
    `«${KEY}»=\t${KEY}=\t51820\toff\n`,
    `${KEY}=\t«${KEY}=»\t192.168.7.1:51820\n${KEY}=\t«${KEY}=»\t[fd00::1]:51820\n${KEY}=\t«${KEY}=»\t(none)\n`,
    `${KEY}=\t${KEY}=\twords\n${KEY.slice(1)}=\t${KEY}=\t51820\nx${KEY}=\t${KEY}=\t51820\n`,
    'user me on >«calvin» ~* +@all\nuser me on #«calvin» ~*\nUSER me reset on ~a* &* -@all >«calvin»\nuser me off resetkeys +get >«calvin»\n',
    'user me on >abc\nuser me >words\nuser me is > words\n',
    '"AUTH" "«calvin»"\n"AUTH" "me" "«two words»"\n"auth" "«calvin»" words\n',
    '"AUTH" ""\n"AUTH" calvin\n"AUTH" "a" "b" "c"\n',
    '  user_me="«calvin»";\nx user_admin="«calvin»" \\\n user_a="«calvin»" user_b="«hobbes»";\n user_me="«calvin»"}\n user_me="«calvin»""\n',
    ' user_name="words"\n user_id="words"\n user_agent="words"\n user_me="abc"\n user_me="words" more\n user_me="two words"\nx_user_me="words"\n',
    `[client.me] key = «AQ${KEY.slice(0, 36)}==»\nkey: «AQ${KEY.slice(0, 36)}==»\nkey:«AQ${KEY.slice(0, 36)}»\nkey=«AQ${KEY.slice(0, 36)}»\n`,
    `{"key":"«AQ${KEY.slice(0, 36)}==»","a":1}\n{"key": "«AQ${KEY.slice(0, 36)}==»"}\n`,
    `key = AQ${KEY.slice(0, 20)}\nkey = BQ${KEY.slice(0, 36)}\n`,
  ]);
});

t.test('addresses and connection strings of databases', async (t) => {
  await expectMarked(t, [
    'jdbc:oracle:thin:me/«calvin»@//host\njdbc:oracle:thin:me$#-x/«calvin»@host:1521:x\n',
    'jdbc:oracle:thin:@//host/words\njdbc:oracle:thin:me@host/words\njdbc:oracle:thin:me/words\n',
    'Server=a;Password={«two;words»};Database=b\nServer=a;PWD={«calvin»}\n',
    'password={{ calvin }}\npassword={ words }\npassword={}\n',
  ]);
});

t.test('programs that are given a password', async (t) => {
  await expectMarked(t, [
    'mc alias set local http://host me «calvin»\nmc alias set --quiet local https://host:9000 me «calvin»\n',
    '["mc","alias","set","local","https://host","me","«calvin»"]\n',
    `['mc', 'alias', 'set', 'local', 'https://host', 'me', '«calvin»']\n`,
    'mc alias set local http://host me abc\nmc alias set local ftp://host me calvin\nmc alias set local http://host\nmc alias list local http://host me calvin\n',
    'send "«calvin88»\\r"\nsend -- "«calvin88»\\n"\n',
    'send "calvin\\r"\nsend "123456\\r"\nsend "c4lvn\\r"\nsend "two words 8\\r"\nsend "calvin88"\nsend "calvin88\\t"\nSend "calvin88\\r"\n',
    ...['PDO->__construct', 'mysqli->__construct', 'mysqli_connect'].map(
      (name) => `#0 x.php(1): ${name}('mysql:host=a', 'me', '«two words»')\n`,
    ),
    "#0 x.php(1): PDO->__construct('mysql:host=a', 'me')\n#0 x.php(1): PDO->query('a', 'b', 'words')\n",
    `LARAVEL_KEY=base64:«${KEY}=»\nLARAVEL_KEY=base64:words\n`,
  ]);
});

t.test('a recovery key that begins within 300 bytes after what says so', async (t) => {
  const words = (bytes: number) => 'words '.repeat(60).slice(-bytes);
  const length = 'recovery key'.length;
  await expectMarked(t, [
    `\u{1f510} «${RECOVERY}»\nRecovery key: «${RECOVERY}»\nsafe ${RECOVERY}\n`,
    `${RECOVERY} is a recovery key\n`,
    `recovery key${words(299 - length)}«${RECOVERY}»\n`,
    `recovery key${words(300 - length)}${RECOVERY}\n`,
    `recovery key ${RECOVERY.slice(9)}\nrecovery key ${RECOVERY.replace('c', 'a')}\n`,
  ]);
});

t.test('a key beside what says that it signs web tokens', async (t) => {
  await expectMarked(t, [
    '{"jwt":{"key":"«kyxp62b9ef0exrxt19ci5wxy»"}}\n{"jwt":{"key":"words-of-sixteen-bytes"}}\n',
    '"{\\"jwt\\": {\\"key\\": \\"«kyxp62b9ef0exrxt19ci5wxy»\\"}}"\n',
    'jwt: {alg: HS256, key: «kyxp62b9ef0exrxt19ci5wxy»}\njwt.signing.key=«kyxp62b9ef0exrxt19ci5wxy»\n',
    'jwt: {a_key: kyxp62b9ef0exrxt19ci5wxy}\njwt: {key: kyxp62b9ef0exrx}\njwt {key: kyxp62b9ef0exrxt19ci5wxy}\n',
    `jwt: ${'x'.repeat(294)} key: kyxp62b9ef0exrxt19ci5wxy\n`,
    `jwt: ${'x'.repeat(293)} key: «kyxp62b9ef0exrxt19ci5wxy»\n`,
    'key: kyxp62b9ef0exrxt19ci5wxy of jwt:\n',
  ]);
});

t.test('codes of OAuth', async (t) => {
  await expectMarked(t, [
    'GET /callback?code=«kyxp62b9ef0exrxt19ci5wxy»&state=x\nGET /callback?state=x&code=«kyxp62b9ef0exrxt19ci5wxy»\n',
    `--data "code=«0b5f7c1e-1f3a-4d2b-8a6c-9d0e1f2a3b4c.x»"\n 'code=«kyxp62b9ef0exrxt19ci5wxy»'\n`,
    'GET /callback?code=authorization-code-words-only\nGET /callback?code=kyxp62b9ef0exrxt19c\nexitcode=kyxp62b9ef0exrxt19ci5wxy\n',
  ]);
});

t.test('a password in the sentence of an installer', async (t) => {
  const password = 'k7Fx29qLm0';
  await expectMarked(t, [
    ...['one-time', 'temporary', 'initial', 'generated', 'default', 'new', 'following'].map(
      (kind) => `the ${kind} password «${password}» expires\n`,
    ),
    `the initial admin password is «${password}»\nthe default password "«${password}»"\nthe new password \`«${password}»\`, words\n`,
    `the new password wordsonly expires\nthe old password «${password}»\nthe new password k7Fx29q\n`,
  ]);
});
