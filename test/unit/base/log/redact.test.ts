import t from 'tap';
import { LOG_PATTERNS, redact } from '../../../../lib/base/log/redact.ts';

const SECRET = 'c0rrectHorseBatteryStaple';
const encode = (text: string) => Buffer.from(text).toString('base64');
const pem = (kind: string) =>
  `-----BEGIN ${kind}PRIVATE KEY-----\n${SECRET}\n-----END ${kind}PRIVATE KEY-----`;

/** Texts whose secret is found by only one pattern, and only by one of its words. */
const TEXTS: readonly string[] = [
  ...['', 'EC ', 'RSA ', 'OPENSSH ', 'ENCRYPTED '].flatMap((kind) => [
    `key ${pem(kind)} end`,
    `key ${encode(pem(kind))} end`,
  ]),
  `key ${pem('').slice(0, -30)}`,
  `https://user:${SECRET}@host`,
  ...['Bearer', 'Basic'].flatMap((scheme) => [
    `Authorization: ${scheme} c0rrect`,
    `"authorization":["${scheme} c0rrect"]`,
  ]),
  `sent Bearer ${SECRET}`,
  `got eyJhbGciOiJSUzI1NiJ9.${SECRET}.${SECRET}`,
  `got sha256~${SECRET}`,
  ...['auth', 'password', 'token', 'client-key-data', 'secret', 'pullSecret'].flatMap((name) => [
    `{"${name}":"${SECRET} and more"}`,
    `{\\"${name}\\":\\"${SECRET} and more\\"}`,
    `{"x-${name}" : "${SECRET}`,
  ]),
  ...['password', 'token', 'bootstrap-token', 'client-key-data'].flatMap((name) => [
    `${name}=${SECRET} end`,
    `${name}: ${SECRET} end`,
  ]),
  `auth=${SECRET}== end`,
  `secret=${SECRET}${'A'.repeat(18)}= end`,
  `secret: ${SECRET}${'A'.repeat(18)}= end`,
];

const isHidden = (text: string, patterns = LOG_PATTERNS) => {
  const safe = redact(text, patterns);
  return !/c0rrect/.test(safe) && !safe.includes(encode(SECRET).slice(2, 20)) && safe !== text;
};

t.test('each form of a secret is redacted', async (t) => {
  for (const text of TEXTS) t.ok(isHidden(text), redact(text));
});

t.test('without any one pattern a secret survives', async (t) => {
  for (const pattern of LOG_PATTERNS) {
    const others = LOG_PATTERNS.filter((each) => each !== pattern);
    t.notOk(
      TEXTS.every((text) => isHidden(text, others)),
      pattern[0].source,
    );
  }
});
