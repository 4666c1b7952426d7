/** Stores as sites have them: SeaweedFS by S3, which judges signatures, and by WebDAV. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { missingPrerequisites } from '../../../lab/components/debian-packages.ts';
import { lacksSeaweedfs } from '../../../lab/components/seaweedfs.ts';
import { parseBackupTo } from '../../../lib/change/backup/push/read-backup-to.ts';
import { signatureHeaders } from '../../../lib/change/backup/push/signature.ts';
import { storedAt, storeFile } from '../../../lib/change/backup/push/store.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { sendRequest } from '../../../lib/host/send.ts';
import { TO } from './pushing-host.ts';
import { BUCKET, KEYS, startSeaweedfs } from './seaweedfs.ts';

const lacks = [...(await missingPrerequisites()), (await lacksSeaweedfs()) ?? ''].filter(
  (line) => line !== '',
);

t.test('real stores', { skip: lacks.length > 0 && lacks.join('; ') }, async (t) => {
  const signal = AbortSignal.timeout(280_000);
  const folder = t.testdir({ store: {} });
  const store = await startSeaweedfs(t, join(folder, 'store'), signal);
  const path = join(folder, 'backup.age');
  const contents = randomBytes(5_000_001);
  writeFileSync(path, contents);
  const file = { path, bytes: contents.length, sha256: sha256(contents) };
  const options = { signal, deadlineMs: 60_000, work: join(folder, 'work') };
  const read = (more: object) =>
    parseBackupTo(JSON.stringify({ ...TO, certificateAuthority: store.authority, ...more }), 'x');
  const s3 = { endpoint: store.s3, bucket: BUCKET, region: 'us-east-1', prefix: 'shops/', ...KEYS };
  const asPerson = ['--aws-sigv4', 'aws:amz:us-east-1:s3'];
  const user = ['--user', `${KEYS.accessKeyId}:${KEYS.secretAccessKey}`];

  t.test('S3 takes it by its signature, and a person fetches it as recovery.md says', async (t) => {
    const to = read({ s3 });
    await storeFile(to, 'edge-0.age', file, options);
    const url = storedAt(to, 'edge-0.age');
    t.equal(url, `${store.s3}/${BUCKET}/shops/edge-0.age`);
    const { stdout } = await store.curl(...asPerson, ...user, url);
    t.equal(sha256(stdout), file.sha256);
    // Once more under the name that it has.
    await storeFile(to, 'edge-0.age', file, options);
  });

  t.test('S3 refuses another key, another bucket and another time', async (t) => {
    const refused = { kind: 'fatal', message: /cannot be stored; .*status 403, \w+/ };
    const stranger = { ...s3, secretAccessKey: 'another' };
    await t.rejects(storeFile(read({ s3: stranger }), 'a.age', file, options), {
      kind: 'fatal',
      message: /status 403, SignatureDoesNotMatch\. Correct the key/,
    });
    const other = { ...s3, bucket: 'others' };
    await t.rejects(storeFile(read({ s3: other }), 'a.age', file, options), refused);
    const put = async (at: Date) => {
      const url = storedAt(read({ s3 }), 'b.age');
      const headers = signatureHeaders({ method: 'PUT', url, payload: file.sha256, at }, s3);
      const body = { file: path };
      const authority = store.authority;
      return sendRequest({ method: 'PUT', url, headers, body, authority }, options);
    };
    const now = Date.now();
    t.match(await put(new Date(now - 3_600_000)), {
      status: 403,
      body: /RequestTimeTooSkewed|RequestExpired/,
    });
    t.match(await put(new Date(now)), { status: 200 }, 'and takes what is right');
  });

  t.test('WebDAV takes it by PUT', async (t) => {
    const url = `${store.webdav}shop/`;
    const to = read({ url });
    await storeFile(to, 'edge-0.age', file, options);
    const { stdout } = await store.curl(`${url}edge-0.age`);
    t.equal(sha256(stdout), file.sha256);
  });
});
