import t from 'tap';
import { expectMarked } from './marked.ts';

const HEX = '728451cecc806316477e22a9d7afdb7b';

t.test('a value alone on a line after its name', async (t) => {
  await expectMarked(t, [
    `Initial admin password:\n\n    «${HEX}»\n\nThis may also be found at: /x\n`,
    `[upload-certs] Using certificate key:\n«${HEX}${HEX}»\n[mark-control-plane] Marking\n`,
    `Jan 1 00:00:00 h app[1]: the generated password:\nJan 1 00:00:00 h app[1]: «k7Fx-29qLm»\n`,
    '    Args:\n      --username\n      thanos\n      --password\n      «umbrella-Fjord»\n      --log.level\n      info\n',
    '  -e ADMIN_PASSWORD=\\\n«Torh\u00fcter-1990» \\\n    image\n',
    'jwt_signing_secret = """\n«uv2iOZjW41Bu6JqTcZiDwG28»\n"""\nissuer = "x"\n',
    ' - name: SMTP_PASSWORD\n-  value: «Old.Morning»\n+  value: «Sunny.Morning»\n - name: HOST\n   value: mail\n',
    "password = '''\n  «first line»\n«last line»'''\nissuer\n",
  ]);
});

t.test('a line after a name that is no value', async (t) => {
  await expectMarked(t, [
    'Enter the new password:\nRetry\n',
    'the admin has no password:\n\nordinary words\n',
    `the new password:\n\n\n${HEX}\n`,
    '  --password\n  the password of the user\n',
    '  --password\n  --user\n',
    '  --password\n      deeper\n',
    'password="""',
    'password=\\',
  ]);
});

t.test('a value that a container runtime has cut with its line', async (t) => {
  const part = (kind: string, text: string) =>
    `2025-05-20T06:52:10.000112371+00:00 stdout ${kind} ${text}\n`;
  await expectMarked(t, [
    part('P', '{"password":"«first»') + part('F', '«second»","lease":1}'),
    part('P', 'password=«first»') + part('P', '«second»') + part('F', '«third» words'),
    part('F', '{"password":"«whole»') + part('F', 'words","lease":1}'),
    part('P', '{"password":"«whole»"}') + part('F', 'words","lease":1}'),
    `${part('P', 'password=«first»')}words without a prefix\n`,
  ]);
});

t.test('keys and passwords in lines below one that says so', async (t) => {
  const line = 'uS6o3Rk2L9xQ7vB1nM4tY8wZ5aD0cF7hJ2kP6sT3gE1rI9lN';
  await expectMarked(t, [
    `Public-Lines: 1\n${line}\nPrivate-Lines: 2\n«${line}»\n«AAAA»\nPrivate-MAC: ${HEX}\n`,
    `-----BEGIN OpenVPN Static key V1-----\n«${HEX}»\n«${HEX}»\n-----END OpenVPN Static key V1-----\n${HEX}\n`,
    '<auth-user-pass>\n«edge»\n«Wolkenbruch 2019»\n</auth-user-pass>\nverb 3\n',
    '<<< 334 UGFzc3dvcmQ6\n>>> «UG9zdGhvcm4»\n<<< 235 ok\n',
  ]);
});
