import t from 'tap';
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
