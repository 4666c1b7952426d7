import t from 'tap';
import { expectMarked } from './marked.ts';

t.test('what an alias of YAML stands for is a secret by the name of the alias', async (t) => {
  const name = (length: number) => 'a'.repeat(length);
  await expectMarked(t, [
    'x: &pw «hunter 22»\na:\n  password: *pw\n',
    'x: &pw "«hunter 22»"\na:\n  password: *pw\n',
    'x: &pw «hunter 22» # b\npassword: *pw\n',
    'x: &pw «hunter 22»\n{password: *pw, b: c}\n',
    // The last anchor above the alias.
    'x: &pw first words\ny: &pw «hunter 22»\npassword: *pw\nz: &pw last words\n',
    'x: &pw2 more words\ny: &pw «hunter 22»\npassword: *pw\n',
    'password: &pw «hunter 22»\n',
    'password: *pw\n',
    'x: &pw\npassword: *pw\n',
    'x: &pw  \npassword: *pw\n',
    `x: &${name(64)} «hunter 22»\npassword: *${name(64)}\n`,
    `x: &${name(65)} hunter 22\npassword: *${name(65)}\n`,
    // An alias is written after a colon.
    'x: &pw hunter 22\npassword = *pw\n',
    // Under a name that is only sometimes a secret's, the value decides.
    'x: &pw ordinary\ntoken: *pw\n',
    'x: &pw «Zq8mK2vW4tYxR6nB»\ntoken: *pw\n',
    'x: &pw none\npassword: *pw\n',
  ]);
});
