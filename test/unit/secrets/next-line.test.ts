import t from 'tap';
import { expectHeld } from './in-blocks.ts';
import { expectMarked } from './marked.ts';

const HEX = '728451cecc806316477e22a9d7afdb7b';

t.test('a value alone on a line after its name', async (t) => {
  await expectMarked(t, [
    `Initial admin password:\n\n    «${HEX}»\n\nThis may also be found at: /x\n`,
    `the new password:\n«${HEX}»  \r\nmore\n`,
    `[upload-certs] Using certificate key:\n«${HEX}${HEX}»\n[mark-control-plane] Marking\n`,
    `Jan 1 00:00:00 h app[1]: the generated password:\nJan 1 00:00:00 h app[1]: «k7Fx-29qLm»\n`,
    `2025-05-20T06:52:10.0+00:00 stderr F the password:\n2025-05-20T06:52:10.0+00:00 stderr F  «k7Fx-29qLm»\n`,
    'the new password:\n«winter88»\n',
    'the new password:\n«aBcDeFgHiJkLmNoPqRsTu»\n',
  ]);
});

t.test('a line after a name that is no value', async (t) => {
  await expectMarked(t, [
    'Enter the new password:\nRetry\n',
    'the new password:\nwinter8\n',
    'the new password:\n1234567890\n',
    'the new password:\nwinter-night\n',
    'the admin has no password:\n\nordinary words\n',
    `the new password:\n${HEX} words\n`,
    'the new password:\nuser admin: winter88\n',
    `the new password:\n\n\n${HEX}\n`,
    `the new password: \n\nwords\n${HEX}\n`,
    'Using certificate key:\nwords-88\n',
    `the new password =\n${HEX}\n`,
    'the new password:',
    'the new password:\n',
    'the new password:\n\n',
  ]);
});

t.test('a value after a backslash that continues the line', async (t) => {
  await expectMarked(t, [
    '  -e ADMIN_PASSWORD=\\\n«Torh\u00fcter-1990» \\\n    image\n',
    'PASSWORD=\\  \n  "«calvin»" words\n',
    "tool --password \\\n  '«calvin»'\n",
    'cookie=\\\n  word\n',
    'PASSWORD=«\\x»\nword\n',
    'PASSWORD=\\\n\nword\n',
    'PASSWORD=\\\n""word\n',
    'password=\\',
  ]);
});

t.test('what the next bytes of the stream can change is held back', (t) => {
  expectHeld(t, [
    'words\n¦the new password:\n',
    'words\n¦the new password:\n\n',
    `words\n¦the new password:\n\n«${HEX}»\n`,
    `words\nthe new password:\n«${HEX}»\n¦words\n`,
    'words\n¦PASSWORD=\\\n',
    'words\n¦PASSWORD=\\\n«calvin»\n',
    'words\nPASSWORD=\\\n«calvin»\n¦words\n',
    // The value can be the beginning of a longer text in base64.
    'words\n¦the new password:\n«uS6o3Rk2L9xQ7vB1nM4tY8wZ5aD0cF7h»\nwords\n',
    'words\n¦the new password:\n«uS6o3Rk2L9xQ7vB1nM4tY8wZ5aD0cF7h»\nwords\nmore\n',
    'words\n¦  --password\n',
    'words\n¦- name: PASSWORD\n  value: «calvin»\n',
    'words\n- name: PASSWORD\n  value: «calvin»\n¦words\n',
    'words\n¦- name: PASSWORD\n  value: |\n    «calvin»\n',
  ]);
  t.end();
});
