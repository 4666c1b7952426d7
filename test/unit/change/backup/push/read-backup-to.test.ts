import t from 'tap';
import {
  hasStoreSecret,
  parseBackupTo,
} from '../../../../../lib/change/backup/push/read-backup-to.ts';
import { storedAt } from '../../../../../lib/change/backup/push/store.ts';
import { ageKeys } from '../portable-backup.ts';

const { recipient } = await ageKeys();
const common = { apiVersion: 'sno-agents/v1', kind: 'BackupTo', recipients: [recipient] };
const s3 = {
  endpoint: 'https://store.example.com:9000',
  bucket: 'edge-backups',
  accessKeyId: 'AKIAEXAMPLE',
  secretAccessKey: 'TheSecretOfTheSite',
};
const url = 'https://store.example.com/backups/';
const read = (value: object) => parseBackupTo(JSON.stringify(value), 'backup-to.json');

t.test('a bucket, or a folder of a server', async (t) => {
  const bucket = read({ ...common, s3: { ...s3, prefix: 'shops/' } });
  t.match(bucket, { s3: { region: 'us-east-1' } });
  t.equal(storedAt(bucket, 'x.age'), `${s3.endpoint}/edge-backups/shops/x.age`);
  const slash = read({ ...common, s3: { ...s3, endpoint: `${s3.endpoint}/` } });
  t.equal(storedAt(slash, 'x.age'), `${s3.endpoint}/edge-backups/x.age`);
  t.equal(storedAt(read({ ...common, url, token: 'abc' }), 'x.age'), `${url}x.age`);
});

t.test('what cannot be used is named, and its secrets are not', async (t) => {
  for (const [value, says] of [
    [{ ...common }, /url/],
    [{ ...common, url, recipients: [] }, /recipients/],
    [{ ...common, url, recipients: [recipient, 'age1x'] }, /recipients\[1\]/],
    [{ ...common, url, recipients: Array.from({ length: 17 }, () => recipient) }, /recipients/],
    [{ ...common, url: 'http://store.example.com/' }, /url/],
    [{ ...common, url: 'https://store.example.com/file' }, /url: expected a folder/],
    [{ ...common, url: `${url}?sig=TheSecretOfTheSite` }, /url: expected no query/],
    [{ ...common, url: 'https://user:TheSecretOfTheSite@store.example.com/' }, /url: .*password/],
    [{ ...common, url, token: 'TheSecretOfTheSite\n' }, /token/],
    [{ ...common, url, certificateAuthority: '-----BEGIN x' }, /certificateAuthority/],
    [{ ...common, s3: { ...s3, endpoint: 'https://store.example.com/edge' } }, /no path/],
    [{ ...common, s3: { ...s3, bucket: 'Edge' } }, /s3\.bucket/],
    [{ ...common, s3: { ...s3, prefix: '/shops' } }, /s3\.prefix/],
    [{ ...common, s3: { ...s3, prefix: '../' } }, /s3\.prefix/],
    [{ ...common, s3: { ...s3, secretAccessKey: 'TheSecretOfTheSite x' } }, /s3\.secretAccessKey/],
    [{ ...common, s3, url }, /url/],
    [{ ...common, url, more: 1 }, /more/],
  ] as const) {
    try {
      read(value);
      t.fail(`${says} is not refused`);
    } catch (error) {
      t.match(error, { kind: 'usage', message: says });
      t.notMatch(error, { message: /TheSecretOfTheSite/ });
    }
  }
  t.throws(() => parseBackupTo('{', 'x'), { message: /no JSON/ });
  const most = Array.from({ length: 16 }, () => recipient);
  t.strictSame(read({ ...common, url, recipients: most }).recipients, most);
});

t.test('what must not be read by others', async (t) => {
  t.equal(hasStoreSecret(JSON.stringify({ ...common, url })), false);
  t.equal(hasStoreSecret(JSON.stringify({ ...common, url, token: 'a' })), true);
  t.equal(hasStoreSecret(JSON.stringify({ ...common, s3 })), true);
  t.equal(hasStoreSecret('{'), true);
});
