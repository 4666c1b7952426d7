import t from 'tap';
import { expectMarked } from './marked.ts';

const LONG = 'Ab1-'.repeat(300);

t.test('values that are secrets by their names', async (t) => {
  await expectMarked(t, [
    'password: «calvin»\n',
    'password: «/opt.Slash9»\n',
    'the password: «must-not-be-empty»\n',
    'password: "«must not be empty»"\n',
    'password="«/etc/passwd is a file»"\n',
    'password = «is this one»\n',
    'password: «correct horse battery»\n',
    `words password=«${LONG}» words\n`,
    `password="«${LONG}»" words\n`,
    `password: «${'a'.repeat(513)} more words»\n`,
  ]);
});

t.test('values that are none, or are elsewhere', async (t) => {
  await expectMarked(t, [
    'password: must not be empty\n',
    'password: null\n',
    'token: words\n',
    'mode: calvin\n',
    'password: /etc/app/password is read\n',
    'password: $DB_PASSWORD of the host\n',
    'password: $(DB_PASSWORD) and words\n',
    'password: /etc/app/password\n',
    'password = $(cat /etc/app/password)\n',
  ]);
});
