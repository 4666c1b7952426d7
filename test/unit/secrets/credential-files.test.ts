import t from 'tap';
import { expectMarked } from './marked.ts';

const KEY = `${'kyxp62b9ef0exrxt19ci5wxy'.repeat(2).slice(0, 42)}8`;

t.test('hashes of users', async (t) => {
  await expectMarked(t, [
    ...['SHA', 'SSHA', 'SHA256', 'SHA512', 'SSHA256', 'SSHA512', 'SMD5', 'MD5', 'ssha'].map(
      (kind) => `me:{${kind}}«${KEY}=»\n`,
    ),
    `me:{SHA}${KEY.slice(0, 19)}\nme:{SHA1}${KEY}\nme:{CRYPT}${KEY}\n`,
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
