import t from 'tap';
import { expectHeld } from './in-blocks.ts';
import { expectMarked } from './marked.ts';

const HEX = '728451cecc806316477e22a9d7afdb7b';
const LINE = 'uS6o3Rk2L9xQ7vB1nM4tY8wZ5aD0cF7hJ2kP6sT3gE1rI9lN';

t.test('as many lines of a PuTTY key as it tells', async (t) => {
  await expectMarked(t, [
    `Public-Lines: 1\n${LINE}\nPrivate-Lines: 2\n«${LINE}»\n«AAAA=»\nPrivate-MAC: ${HEX}\n`,
    `Private-Lines: 1\n«${LINE}»\n${LINE}\n`,
    `Private-Lines: 14\r\n${`«${LINE}»\r\n`.repeat(14)}${LINE}\n`,
    `I1 x] Private-Lines: 1\nI1 x] «AAAA==»\n`,
    `Private-Lines: 2\n«${LINE}»\nabc\n${LINE}\n`,
    `Private-Lines: 0\n${LINE}\n`,
    `Private-Lines: 2 or more\n${LINE}\n`,
    `Private-Lines: many\n${LINE}\n`,
  ]);
});

t.test('64 lines of an OpenVPN key', async (t) => {
  const begin = '-----BEGIN OpenVPN Static key V1-----\n';
  await expectMarked(t, [
    `${begin}«${HEX}»\n«${HEX}»\n-----END OpenVPN Static key V1-----\n${HEX}\n`,
    `${begin}${`«${HEX}»\n`.repeat(64)}${HEX}\n`,
    `BEGIN OpenVPN Static key V1\n${HEX}\n`,
    `${begin}${HEX.slice(1)}\n`,
  ]);
});

t.test('user and password of OpenVPN', async (t) => {
  await expectMarked(t, [
    '<auth-user-pass>\n«edge»\n«Wolkenbruch 2019»\n</auth-user-pass>\nverb 3\n',
    '<auth-user-pass>\n«edge»\n«Wolkenbruch»\nverb 3\n',
    '<auth-user-pass>\n</auth-user-pass>\nverb 3\n',
    'Jan 1 00:00:00 h app[1]: <auth-user-pass>\nJan 1 00:00:00 h app[1]: «edge»\nJan 1 00:00:00 h app[1]: «Wolkenbruch»\n',
    '<auth-user-pass> words\nedge\n',
  ]);
});

t.test('what a client answers when a mail server asks for the password', async (t) => {
  await expectMarked(t, [
    '<<< 334 UGFzc3dvcmQ6\n>>> «UG9zdGhvcm4»\n<<< 235 ok\n',
    '334 UGFzc3dvcmQ6\n«UG9zdGhvcm4=»\nUG9zdGhvcm4=\n',
    '334 VXNlcm5hbWU6\nUG9zdGhvcm4=\n',
    '334 ugfzc3dvcmq6\nUG9zdGhvcm4=\n',
    '334 UGFzc3dvcmQ6\n-\n',
    '334 UGFzc3dvcmQ6',
  ]);
});

t.test('lines that can follow in the next bytes of the stream', (t) => {
  expectHeld(t, [
    'words\n¦Private-Lines: 1\n',
    `words\n¦Private-Lines: 2\n«${LINE}»\n`,
    `words\n¦Private-Lines: 1\n«${LINE}»\n`,
    `words\nPrivate-Lines: 1\n«${LINE}»\n¦words.\n`,
    'words\n<auth-user-pass>\n«edge»\n¦</auth-user-pass>\n',
  ]);
  t.end();
});
