import { randomBytes } from 'node:crypto';
import t from 'tap';
import { isSealed, KEY_BYTES, sealed, unsealed } from '../../../../lib/secrets/seal/envelope.ts';

const key = randomBytes(KEY_BYTES);
const NAME = '/etc/kubernetes/pki/etcd/server.key';

t.test('what is sealed is opened by the same key, under the same name', async (t) => {
  for (const contents of ['', 'a key', randomBytes(100_000)]) {
    const bytes = sealed(key, NAME, contents);
    t.ok(isSealed(bytes));
    t.same(unsealed(key, NAME, bytes), Buffer.from(contents));
  }
  const long = 'the private part of a key';
  t.notOk(sealed(key, NAME, long).includes(long), 'nothing of it can be read');
  t.notSame(sealed(key, NAME, long), sealed(key, NAME, long), 'each time with another nonce');
});

t.test('nothing else opens it', async (t) => {
  const bytes = sealed(key, NAME, 'a key');
  t.equal(unsealed(randomBytes(KEY_BYTES), NAME, bytes), undefined, 'another key');
  t.equal(unsealed(key, `${NAME}2`, bytes), undefined, 'another file');
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    t.equal(unsealed(key, NAME, damaged), undefined, `a damaged byte ${at}`);
  }
  for (let length = 0; length < bytes.length; length++) {
    t.equal(unsealed(key, NAME, bytes.subarray(0, length)), undefined, `${length} bytes of it`);
  }
  t.notOk(isSealed(Buffer.from('-----BEGIN PRIVATE KEY-----')));
});
