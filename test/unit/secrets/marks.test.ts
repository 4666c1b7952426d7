import { createHash } from 'node:crypto';
import t from 'tap';
import { marksWith } from '../../../lib/secrets/redact/marks.ts';

t.test('a mark depends on the secret and the key of the bundle', async (t) => {
  const key = Buffer.from('key of a bundle');
  const marks = marksWith(key);
  const secrets = ['hunter22', 'Pässwort', '', 'x'.repeat(257), 'hunter22'];
  for (const secret of secrets) {
    const digest = createHash('sha256').update(key).update(secret, 'utf8').digest('hex');
    t.equal(marks.of(secret), `<redacted:${digest.slice(0, 8)}>`, secret.slice(0, 20));
    t.equal(marks.of(secret, 'possible'), marks.of(secret, 'certain'));
  }
  t.not(marks.of('hunter22'), marks.of('hunter23'));
  t.not(marks.of('hunter22'), marksWith(Buffer.from('another key')).of('hunter22'));
});
