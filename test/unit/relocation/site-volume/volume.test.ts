/** A volume is written, opened, and gives what was put into it; whether it is used depends on node and time. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { decrypterFor } from '../../../../lib/change/backup/portable/recipients.ts';
import { decryptFiles } from '../../../../lib/relocation/site-volume/archive.ts';
import { openVolume } from '../../../../lib/relocation/site-volume/open-volume.ts';
import type { VolumeRules } from '../../../../lib/relocation/site-volume/volume.ts';
import { writeVolume } from '../../../../lib/relocation/site-volume/write-volume.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { freshFolder } from '../../engine/steps/fresh-folder.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { tooManyStreams } from '../../secrets/key-scan-forms.ts';
import {
  ageKeys,
  authorityCredentials,
  aVolume,
  encrypterTo,
  facts,
  NOW,
  requestCredentials,
  rules,
  SITE,
  signal,
} from './volumes.ts';

const DAY_MS = 86_400_000;
const MANIFEST = `apiVersion: v1
kind: ConfigMap
metadata: {name: site, namespace: default}
`;

async function written(t: Test, files: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const folder = t.testdir();
  await writeVolume(folder, files);
  return folder;
}

const open = (folder: string, different?: Partial<VolumeRules>) =>
  openVolume(folder, rules(different), join(folder, '../work'), signal);

t.test('what is put in comes out', async (t) => {
  const credentials = await requestCredentials();
  const folder = await written(
    t,
    await aVolume({
      credentials,
      config: `${SITE}hosts: [CZ1234ABCD]\n`,
      hosts: ['cz1234abcd'],
      more: { 'extra-manifests/10-site.yaml': MANIFEST },
    }),
  );
  writeFileSync(join(folder, 'notes.txt'), 'of somebody else');
  const volume = await open(folder);
  t.match(volume.config, { clusterName: 'shop', baseDomain: 'example.com', hosts: ['cz1234abcd'] });
  t.same(volume.credentials, credentials);
  t.match(volume.manifests, [{ kind: 'ConfigMap', name: 'site' }]);
  t.same([...volume.files.keys()].toSorted(), [
    'credentials/admin.csr',
    'extra-manifests/10-site.yaml',
    'site-config.yaml',
  ]);
  t.match(volume, { isKnown: false, signedBy: undefined, use: { serial: 7 } });
});

t.test('files have the names by which hosts of every release look for them', async (t) => {
  const { identity, recipient } = await ageKeys();
  const credentials = await authorityCredentials();
  const encrypter = encrypterTo(recipient);
  const sign = async () => 'a signature';
  const volume = await aVolume({ credentials, encrypter, sign });
  for (const name of ['site-volume.json', 'site-volume.json.sig', 'site-volume.age'])
    t.ok(volume.has(name), name);
  const encrypted = volume.get('site-volume.age') ?? Buffer.of();
  const files = await decryptFiles(encrypted, decrypterFor(identity, 'identity'), signal);
  t.same([...files.keys()].toSorted(), [
    'credentials/admin-ca.crt',
    'credentials/serving-ca.crt',
    'credentials/serving-ca.key',
    'site-config.yaml',
  ]);
});

t.test('an encrypted volume shows nothing but its manifest', async (t) => {
  const { identity, recipient } = await ageKeys();
  const credentials = await authorityCredentials();
  const folder = await written(
    t,
    await aVolume({ credentials, encrypter: encrypterTo(recipient) }),
  );
  t.same(readdirSync(folder).toSorted(), [
    'site-volume.age',
    'site-volume.json',
    'sno-result.html',
    'sno-result.txt',
  ]);
  const volume = await open(folder, { ageIdentity: identity });
  t.same(volume.credentials, credentials);
  t.equal(volume.config.clusterName, 'shop');
  await t.rejects(open(folder), { code: 'site-volume-refused', message: /no identity of age/ });
  const other = await ageKeys();
  await t.rejects(open(folder, { ageIdentity: other.identity }), {
    kind: 'usage',
    code: 'site-volume-refused',
    message: /cannot be decrypted/,
  });
});

t.test('of the header of an encrypted volume no more is read than recipients need', async (t) => {
  const { identity } = await ageKeys();
  const part = `-> X25519 ${'A'.repeat(43)}\n${'A'.repeat(43)}\n`;
  const header = (parts: number) =>
    Buffer.from(`age-encryption.org/v1\n${part.repeat(parts)}--- ${'A'.repeat(43)}\n`);
  const decrypter = decrypterFor(identity, 'identity');
  let tried = 0;
  t.capture(decrypter, 'decrypt', async () => {
    tried += 1;
    throw new Error('no identity matched');
  });
  const refused = { code: 'site-volume-refused', message: /cannot be decrypted/ };
  await t.rejects(decryptFiles(header(600), decrypter, signal), refused);
  t.equal(tried, 1);
  await t.rejects(decryptFiles(header(800), decrypter, signal), {
    ...refused,
    message: /expected a header of age of at most 65536 bytes/,
  });
  t.equal(tried, 1);
});

t.test('certificates come from files of the volume', async (t) => {
  const authority = await createAuthority('site', 100, NOW);
  const { certificate, key } = await issueLeaf(
    authority,
    {
      subject: { commonName: 'api' },
      usage: 'server',
      dnsNames: ['api.shop.example.com'],
      lifetimeDays: 30,
    },
    NOW,
  );
  const { identity, recipient } = await ageKeys();
  const volume = await aVolume({
    config: `${SITE}certificates: {api: {certificate: tls/api.crt, key: tls/api.key}}\n`,
    more: { 'tls/api.crt': certificate, 'tls/api.key': key },
    encrypter: encrypterTo(recipient),
  });
  const { config } = await open(await written(t, volume), {
    ageIdentity: identity,
    facts: undefined,
  });
  t.same(config.certificates.api, { certificate, key });
  t.equal(config.certificates.ingress, undefined);
});

t.test('serial numbers rise', async (t) => {
  const folder = await written(t, await aVolume({ serial: 7 }));
  const { use } = await open(folder);
  const other = 'a'.repeat(64);
  const known = await open(folder, { used: [{ serial: 3, sha256: other }, use] });
  t.equal(known.isKnown, true, 'the same volume again');
  const newer = await open(folder, { used: [{ serial: 6, sha256: other }] });
  t.equal(newer.isKnown, false);
  for (const used of [
    [{ serial: 8, sha256: other }],
    [{ serial: 7, sha256: other }],
    [use, { serial: 8, sha256: other }],
  ]) {
    await t.rejects(open(folder, { used }), {
      code: 'site-volume-refused',
      message: /serial above \d; found 7/,
    });
  }
});

t.test('an early clock of the host is not earlier than the volume', async (t) => {
  const validUntil = new Date(NOW.getTime() + 10 * DAY_MS);
  const folder = await written(t, await aVolume({ validUntil }));
  t.ok(await open(folder, { now: new Date(0) }), 'the clock lost its battery');
  t.ok(await open(folder, { now: validUntil }));
  await t.rejects(open(folder, { now: new Date(validUntil.getTime() + 1000) }), {
    message: /the volume has expired/,
  });
});

t.test('a laptop without facts judges no node', async (t) => {
  const folder = await written(t, await aVolume({ hosts: ['another'] }));
  t.ok(await open(folder, { facts: undefined }));
  await t.rejects(open(folder, { facts }), { message: /for another node/ });
});

t.test('a key is written only where it is encrypted', async (t) => {
  const { key } = await createAuthority('any', 1, NOW);
  const secret = `kind: Secret\ndata: {tls.key: ${Buffer.from(key).toString('base64')}}\n`;
  for (const more of [
    { 'extra-manifests/a.yaml': secret },
    { 'tls/a.key': key },
    // More than is searched.
    { 'streams.bin': tooManyStreams },
  ]) {
    const [path = ''] = Object.keys(more);
    await t.rejects(aVolume({ more }), {
      kind: 'usage',
      message: /a private key or a token is never written to a volume that is not encrypted/,
      details: { found: path },
    });
  }
  await t.rejects(aVolume({ credentials: await authorityCredentials() }), {
    message: /not encrypted/,
  });
  const encrypted =
    '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n';
  await t.rejects(aVolume({ more: { 'a.key': encrypted } }), { message: /not encrypted/ });
});

const report = (more: object) =>
  JSON.stringify({
    apiVersion: 'sno-agents/v1',
    kind: 'ReportTo',
    url: 'https://x.example',
    ...more,
  });

t.test('to whom the node reports: judged, and encrypted if it has a secret', async (t) => {
  const plain = await open(
    await written(t, await aVolume({ more: { 'report-to.json': report({}) } })),
  );
  t.equal(Buffer.from(plain.files.get('report-to.json') ?? []).toString(), report({}));
  const more = { 'report-to.json': report({ token: 'abc' }) };
  await t.rejects(aVolume({ more }), {
    message: /a token is never written to a volume that is not encrypted/,
    details: { found: 'report-to.json' },
  });
  const { identity, recipient } = await ageKeys();
  const encrypted = await aVolume({ more, encrypter: encrypterTo(recipient) });
  t.ok(
    (await open(await written(t, encrypted), { ageIdentity: identity })).files.has(
      'report-to.json',
    ),
  );
  const wrong = await aVolume({ more: { 'report-to.json': report({ url: 'http://x.example' }) } });
  await t.rejects(open(await written(t, wrong)), {
    kind: 'usage',
    code: 'site-volume-refused',
    message: /report-to\.json cannot be used; expected a hub .*; found .*url/,
  });
});

t.test('where the node stores its backups: the same', async (t) => {
  const { identity, recipient } = await ageKeys();
  const store = (more: object) =>
    JSON.stringify({
      ...{ apiVersion: 'sno-agents/v1', kind: 'BackupTo', recipients: [recipient] },
      ...more,
    });
  const more = (text: string) => ({ more: { 'backup-to.json': text } });
  const url = 'https://x.example/';
  const plain = await written(t, await aVolume(more(store({ url }))));
  t.ok((await open(plain)).files.has('backup-to.json'));
  const s3 = { endpoint: url, bucket: 'backups', accessKeyId: 'a', secretAccessKey: 'b' };
  for (const secret of [store({ url, token: 'abc' }), store({ s3 })]) {
    await t.rejects(aVolume(more(secret)), {
      message: /a token is never written to a volume that is not encrypted/,
      details: { found: 'backup-to.json' },
    });
    const encrypted = await aVolume({ ...more(secret), encrypter: encrypterTo(recipient) });
    t.ok(await open(await written(t, encrypted), { ageIdentity: identity }));
  }
  await t.rejects(open(await written(t, await aVolume(more(store({ url: `${url}file` }))))), {
    code: 'site-volume-refused',
    message: /backup-to\.json cannot be used.*a folder/,
  });
});

t.test('of many wrong manifests, the first twenty are named', async (t) => {
  const paths = Array.from({ length: 21 }, (_, at) => `extra-manifests/${10 + at}.yaml`);
  const more = Object.fromEntries(paths.map((path) => [path, 'kind: [']));
  const error = await thrownBy(open(await written(t, await aVolume({ more }))));
  t.match(error, { message: /extra-manifests cannot be applied/ });
  t.same(
    paths.filter((path) => String(error).includes(path)),
    paths.slice(0, 20),
  );
});

t.test('a medium has a manifest once all else is on it', async (t) => {
  const files = await aVolume();
  const at = (folder: string, name: string) => join(folder, name);
  const isWhole = (folder: string) =>
    [...files].every(
      ([name, bytes]) =>
        existsSync(at(folder, name)) && readFileSync(at(folder, name)).equals(bytes),
    );
  await killedAtAnyMoment(t, {
    prepare: () => freshFolder(t),
    run: (folder) => writeVolume(folder, files),
    allowed: (folder, when) =>
      void t.ok(!existsSync(at(folder, 'site-volume.json')) || isWhole(folder), when),
    result: isWhole,
    least: 10,
    isDurable: true,
    isConcurrent: true,
  });
});

t.test('no more than a host reads', async (t) => {
  const files = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`extra-manifests/${at}.yaml`, '']),
    );
  t.ok(await aVolume({ more: files(58) }));
  await t.rejects(aVolume({ more: files(59) }), { message: /at most 60 files/ });
  await t.rejects(aVolume({ more: { 'a.yaml': Buffer.alloc(16 << 20) } }), {
    message: /too large/,
  });
  await t.rejects(aVolume({ more: { 'a b': '' } }), { message: /path below the volume/ });
  await t.rejects(aVolume({ more: { a: '', A: '' } }), { message: /named twice/ });
});
