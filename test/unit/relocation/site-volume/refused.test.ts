/** Volumes that somebody has put together by hand: each part of them is judged. */
import { join } from 'node:path';
import t from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import {
  credentialFiles,
  credentialsIn,
} from '../../../../lib/relocation/site-volume/credentials.ts';
import { extraManifests } from '../../../../lib/relocation/site-volume/extra-manifests.ts';
import { listedFiles } from '../../../../lib/relocation/site-volume/manifest.ts';
import { openVolume } from '../../../../lib/relocation/site-volume/open-volume.ts';
import { readVolumeFile } from '../../../../lib/relocation/site-volume/read-file.ts';
import { writeVolume } from '../../../../lib/relocation/site-volume/write-volume.ts';
import {
  ageKeys,
  aVolume,
  encrypterTo,
  NOW,
  requestCredentials,
  rules,
  signal,
} from './volumes.ts';

const DAY_MS = 86_400_000;
const at = (days: number) => new Date(NOW.getTime() + days * DAY_MS);
const sound = await createAuthority('sound', 100, NOW);
const other = await createAuthority('other', 100, NOW);
const leaf = await issueLeaf(sound, { subject: { commonName: 'x' }, usage: 'server' }, NOW);

const AUTHORITIES: readonly (readonly [what: string, given: typeof sound, found: RegExp])[] = [
  ['one that has ended', await createAuthority('old', 1, at(-2), at(-2)), /found one that ended/],
  ['one that begins later', await createAuthority('new', 9, at(2), at(2)), /found one that begins/],
  ['a leaf', leaf, /found a certificate that may not sign others/],
  ['what is none', { certificate: 'x', key: sound.key }, /found what is no certificate or key/],
];

const credentials = (serving: typeof sound, admin: typeof sound) =>
  new Map(
    Object.entries({
      'credentials/serving-ca.crt': serving.certificate,
      'credentials/serving-ca.key': serving.key,
      'credentials/admin-ca.crt': admin.certificate,
    }).map(([path, text]) => [path, Buffer.from(text)]),
  );

t.test('manifests are in the order of their names, whatever that of their folder is', async (t) => {
  const manifest = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
  const files = ['20-b', '10-a'].map(
    (name) => [`extra-manifests/${name}.yaml`, Buffer.from(manifest(name))] as const,
  );
  const found = extraManifests(new Map(files));
  t.same(
    found.map(({ name }) => name),
    ['10-a', '20-b'],
  );
});

t.test('of a file no more is read than it may have', async (t) => {
  const folder = t.testdir({ file: '12345' });
  t.equal(`${await readVolumeFile(folder, 'file', 5)}`, '12345');
  await t.rejects(readVolumeFile(folder, 'file', 4), {
    code: 'site-volume-refused',
    message: /expected at most 4 bytes; found 5/,
  });
});

t.test('a volume has one kind of credentials, whole', async (t) => {
  const all = credentials(sound, sound);
  const request = credentialFiles(await requestCredentials());
  const refused = { code: 'site-volume-refused', message: /does not say who is administrator/ };
  t.match(credentialsIn(request, NOW), { kind: 'request' });
  t.throws(() => credentialsIn(new Map(), NOW), refused);
  for (const [path, bytes] of all) {
    t.throws(() => credentialsIn(new Map([...request, [path, bytes]]), NOW), refused, path);
    const others = new Map([...all].filter(([name]) => name !== path));
    t.throws(() => credentialsIn(others, NOW), refused, `without ${path}`);
  }
});

t.test('the authorities of a volume are such, and valid now', (t) => {
  t.match(credentialsIn(credentials(sound, sound), NOW), { kind: 'authorities' });
  for (const [what, given, found] of AUTHORITIES) {
    const refused = (file: string) => ({
      code: 'site-volume-refused',
      message: new RegExp(`credentials/${file}-ca\\.crt cannot be used.*${found.source}`),
    });
    t.throws(() => credentialsIn(credentials(given, sound), NOW), refused('serving'), what);
    t.throws(() => credentialsIn(credentials(sound, given), NOW), refused('admin'), what);
  }
  const strange = { certificate: sound.certificate, key: other.key };
  t.throws(() => credentialsIn(credentials(strange, sound), NOW), /the key of another certificate/);
  t.end();
});

t.test('nothing lies beside what is encrypted', async (t) => {
  const { identity, recipient } = await ageKeys();
  const files = await aVolume({ encrypter: encrypterTo(recipient) });
  const manifest = JSON.parse(`${Buffer.from(files.get('site-volume.json') ?? [])}`);
  const beside = new Map([['extra-manifests/a.yaml', Buffer.from('kind: Secret\n')]]);
  const text = JSON.stringify({ ...manifest, files: [...manifest.files, ...listedFiles(beside)] });
  const folder = t.testdir();
  const made = [...files, ...beside, ['site-volume.json', Buffer.from(text)] as const];
  await writeVolume(folder, new Map(made));
  await t.rejects(
    openVolume(folder, rules({ ageIdentity: identity }), join(folder, '../work'), signal),
    {
      code: 'site-volume-refused',
      message: /encrypted in another way; .*found site-volume\.age, extra-manifests\/a\.yaml/,
    },
  );
});
