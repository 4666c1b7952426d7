import t from 'tap';
import { userInfoSigns } from '../../../lib/secrets/redact/user-info.ts';
import { expectMarked } from './marked.ts';

t.test('a user and a password before a host and a port', async (t) => {
  await expectMarked(t, [
    'user:«hunter22»@db.example.com:5432/x b',
    'dsn="app-1.b:«hun@ter,22»@10.0.0.1:80"',
    'got (u:«p»@[2001:db8::1]:6443) b',
    'a,user:«hunter22»@host:80,user:«hunter23»@host:81',
    // No port, no password, no user.
    'user:hunter22@host b',
    'user:hunter22@host:b',
    'user:hunter22@host:123456',
    'user:@host:80',
    ':hunter22@host:80',
    'user@host:80',
    // An address of another kind, a digest.
    'mailto:admin@example.com:25 sip:me@example.com:5060 git:a@b:22',
    'got app:v1@sha256:12345 b',
    'path/user:hunter22@host:80',
  ]);
});

t.test('an @ is examined only after a word with a colon, and not before a digest', (t) => {
  const rows: [text: string, offsets: number[]][] = [
    ['u:p@h', [3]],
    ['u:p@h u:pass@h', [3, 12]],
    ['u:p@q@h', [3, 5]],
    ['u:p@@h', [3, 4]],
    ['@h', []],
    ['u@h', []],
    [':p@h', [2]],
    ['u:@h', []],
    ['u:p@sha256:0', []],
    ['u:p@sh', [3]],
    ['u:p q@h', []],
    ['u:"p@h', []],
    ["u:'p@h", []],
    ['u:/p@h', []],
    ['u:p\0q@h', []],
    ['u:!#$&()*+,-.;<=p@h', [17]],
    // At most 200 characters before it.
    [`u:${'p'.repeat(199)}@h`, [201]],
    [`u:${'p'.repeat(200)}@h`, []],
  ];
  for (const [text, offsets] of rows) t.strictSame(userInfoSigns(Buffer.from(text)), offsets, text);
  t.end();
});
