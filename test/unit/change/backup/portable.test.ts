import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import type { PortableHeader } from '../../../../lib/change/backup/portable/header.ts';
import { readPortable } from '../../../../lib/change/backup/portable/read.ts';
import { decrypterFor, encrypterFor } from '../../../../lib/change/backup/portable/recipients.ts';
import {
  requireBackupWritable,
  writePortable,
} from '../../../../lib/change/backup/portable/write.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { diskOf } from '../../host/disk-of.ts';
import {
  ageKeys,
  BY_HOST,
  filesIn,
  KEY,
  KEY_FILE,
  portableBackup,
  SIGNS,
} from './portable-backup.ts';

const { signal } = new AbortController();

t.test('what one recipient reads is what was written, in order', async (t) => {
  const { to, header, identity, bytes } = await portableBackup(t);
  t.equal(statSync(to).mode & 0o777, 0o600);
  t.equal(statSync(to).size, bytes);
  t.notOk(readFileSync(to).includes(KEY), 'encrypted');
  t.match(readFileSync(to, 'latin1'), /^age-encryption\.org\/v1\n-> X25519 /, 'as age reads it');
  const read: [string, string][] = [];
  let early: PortableHeader | undefined;
  const decrypter = decrypterFor(`# created: today\n\n${identity}\r\n`, 'key.txt');
  const found = await readPortable(
    to,
    { decrypter, author: BY_HOST },
    {
      async header(header) {
        early = header;
      },
      async file({ path }, contents) {
        t.ok(early, 'the header is known before');
        const pieces = [];
        for await (const piece of contents) pieces.push(piece);
        read.push([path, Buffer.concat(pieces).toString()]);
      },
    },
    signal,
  );
  t.strictSame(found, { header, isSigned: true });
  t.strictSame(read, [
    ['etcd-snapshot.db', 'a snapshot'],
    [KEY_FILE, KEY],
  ]);
});

type Change = (header: PortableHeader) => PortableHeader;
const unusable: [title: string, change: Change, says: RegExp][] = [
  [
    'a file with another digest',
    ({ manifest, ...rest }) => ({
      ...rest,
      manifest: {
        ...manifest,
        files: manifest.files.map((file) => ({ ...file, sha256: '0'.repeat(64) })),
      },
    }),
    /etcd-snapshot\.db: expected SHA-256 0{64}, found \w{64}/,
  ],
  [
    'a header that is not one',
    ({ manifest, ...rest }) => ({ ...rest, manifest: { ...manifest, at: 'yesterday' } }),
    /backup\.json: .*manifest\.at/s,
  ],
  [
    'a version that is no number',
    (header) => Object.assign({}, header, { schemaVersion: '9' }),
    /backup\.json: .*schemaVersion/s,
  ],
  [
    'a file of another size',
    ({ manifest, ...rest }) => {
      const [first, second] = manifest.files;
      if (first === undefined || second === undefined) throw new Error('two files');
      return { ...rest, manifest: { ...manifest, files: [{ ...second, bytes: 3 }, first] } };
    },
    /host\/etc.* is not the next file of the manifest/,
  ],
];
unusable.push([
  'files of one size in another order',
  ({ manifest, ...rest }) => {
    const [first, second] = manifest.files;
    if (first === undefined || second === undefined) throw new Error('two files');
    const files = [
      { ...second, bytes: first.bytes },
      { ...first, bytes: second.bytes },
    ];
    return { ...rest, manifest: { ...manifest, files } };
  },
  /is not the next file of the manifest/,
]);
for (const [title, change, says] of unusable) {
  t.test(`refused: ${title}`, async (t) => {
    const { to, opening } = await portableBackup(t, change);
    const error = await thrownBy(readPortable(to, opening, {}, signal));
    t.match(error, { kind: 'usage', code: 'backup-unusable', message: says });
  });
}

t.test('refused: cut, changed, of another recipient, not encrypted', async (t) => {
  const { to, identity, opening, bytes } = await portableBackup(t);
  const refused = async (says: RegExp, key = identity) =>
    t.match(
      await thrownBy(
        readPortable(to, { ...opening, decrypter: decrypterFor(key, 'k') }, {}, signal),
      ),
      {
        kind: 'usage',
        code: 'backup-unusable',
        message: says,
      },
    );
  await refused(/no identity matched/, (await ageKeys()).identity);
  const whole = readFileSync(to);
  truncateSync(to, bytes - 1);
  await refused(/cannot be used/);
  const flipped = Buffer.from(whole);
  flipped[bytes - 40] = (flipped[bytes - 40] ?? 0) ^ 1;
  writeFileSync(to, flipped);
  await refused(/cannot be used/);
  writeFileSync(to, 'hello');
  await refused(/cannot be used/);
  writeFileSync(to, whole);
  await readPortable(to, opening, {}, signal);
});

t.test('a file is neither replaced nor left incomplete', async (t) => {
  const { folder, to, header, recipient } = await portableBackup(t);
  const write = (contentsOf = filesIn(folder)) =>
    writePortable(
      to,
      { header, contentsOf, signs: SIGNS, encrypter: encrypterFor([recipient]) },
      signal,
    );
  const exists = { kind: 'usage', message: /portable\.age exists/ };
  t.match(await thrownBy(write()), exists);
  rmSync(to);
  rmSync(join(folder, KEY_FILE));
  t.match(await thrownBy(write()), { code: 'ENOENT' });
  t.strictSame(readdirSync(dirname(to)), ['backup']);
  // What a killed run left.
  writeFileSync(`${to}.partial`, 'half');
  writeFileSync(join(folder, KEY_FILE), KEY);
  await write();
  t.strictSame(readdirSync(dirname(to)).toSorted(), ['backup', 'portable.age']);
  rmSync(to);
  const meanwhile = write((file) => {
    writeFileSync(to, 'of somebody else');
    return filesIn(folder)(file);
  });
  t.match(await thrownBy(meanwhile), exists);
  t.equal(readFileSync(to, 'utf8'), 'of somebody else');
  t.strictSame(readdirSync(dirname(to)).toSorted(), ['backup', 'portable.age']);
});

t.test('whoever is told to stop leaves nothing, and says nothing of the backup', async (t) => {
  const { folder, to, header, recipient, opening } = await portableBackup(t);
  const stop = new AbortController();
  const stopped = { message: /^stopped$/ };
  const reader = { header: async () => stop.abort(new Error('stopped')) };
  t.match(await thrownBy(readPortable(to, opening, reader, stop.signal)), stopped);
  rmSync(to);
  const encrypter = encrypterFor([recipient]);
  const written = { header, contentsOf: filesIn(folder), signs: SIGNS, encrypter };
  t.match(await thrownBy(writePortable(to, written, stop.signal)), stopped);
  t.strictSame(readdirSync(dirname(to)), ['backup']);
});

t.test('interrupted at any moment, a portable backup is whole or not there', async (t) => {
  await killedAtAnyMoment(t, {
    async prepare() {
      const backup = await portableBackup(t);
      rmSync(backup.to);
      return backup;
    },
    async run({ to, folder, header, recipient }) {
      if (existsSync(to)) return;
      const encrypter = encrypterFor([recipient]);
      const written = { header, contentsOf: filesIn(folder), signs: SIGNS, encrypter };
      await writePortable(to, written, signal);
    },
    async allowed({ to, opening }, when) {
      if (existsSync(to)) t.ok(await readPortable(to, opening, {}, signal), `${when}: it is whole`);
    },
    async result({ to, opening, header }) {
      const read = await readPortable(to, opening, {}, signal);
      const beside = readdirSync(dirname(to)).toSorted();
      return { isRight: read.header.at === header.at, beside, mode: statSync(to).mode & 0o777 };
    },
    least: 5,
    isDurable: true,
  });
});

t.test('no room, and no folder', async (t) => {
  const to = join(t.testdir(), 'x.age');
  t.match(await thrownBy(requireBackupWritable(to, 2 ** 60)), {
    kind: 'fatal',
    code: 'backup-no-space',
    message: /expected \d+ MiB; found \d+ MiB free/,
  });
  writeFileSync(join(dirname(to), 'file'), '');
  symlinkSync('circle', join(dirname(to), 'circle'));
  for (const [path, found] of [
    ['none/x.age', /no such file or directory/],
    ['file/x.age', /not a directory/],
    ['circle/x.age', /too many symbolic links/],
    ['y'.repeat(300), /name too long/],
  ] as const) {
    const failure = await thrownBy(requireBackupWritable(join(dirname(to), path), 1));
    t.match(failure, { kind: 'usage', details: { found } }, path);
  }
});

t.test('room is needed for the headers of the archive and the digests of age, too', async (t) => {
  const to = join(t.testdir(), 'x.age');
  const needed = 2 ** 21 + 2 ** 11 + 2 ** 20;
  let free = needed;
  diskOf(t, () => ({ free }));
  await requireBackupWritable(to, 2 ** 21);
  free = needed - 1;
  t.match(await thrownBy(requireBackupWritable(to, 2 ** 21)), {
    message: /expected 4 MiB; found 4 MiB free/,
  });
});

t.test('recipients and identities', async (t) => {
  const { identity, recipient } = await ageKeys();
  for (const wrong of ['', 'age1', recipient.slice(0, -1), identity, 'ssh-ed25519 AAAA']) {
    t.throws(() => encrypterFor([recipient, wrong]), {
      kind: 'usage',
      message: /^--recipient .*is not a recipient of age; expected the public key/,
    });
  }
  t.throws(() => decrypterFor(`# c\n${identity}x\n`, 'key.txt'), {
    message: /^line 2 of key\.txt is not an identity/,
  });
  t.throws(() => decrypterFor(recipient, 'key.txt'), { message: /line 1 of key\.txt/ });
  t.throws(() => decrypterFor('# nothing\n', 'key.txt'), { message: /key\.txt has no identity/ });
  let said = '';
  try {
    decrypterFor(`${identity}x`, 'key.txt');
  } catch (error) {
    said = String(error);
  }
  t.match(said, /line 1 of key\.txt/);
  t.notOk(said.includes(identity.slice(20, 40)), 'no secret in an error');
});

t.test('of the header of age no more is read than recipients need', async (t) => {
  const { identity } = await ageKeys();
  const decrypter = decrypterFor(identity, 'key.txt');
  const read = (contents: string) => {
    const path = join(t.testdir(), 'x.age');
    writeFileSync(path, contents);
    return readPortable(path, { decrypter, author: BY_HOST }, {}, signal);
  };
  const part = `-> X25519 ${'A'.repeat(43)}\n${'A'.repeat(43)}\n`;
  const header = (parts: number) =>
    `age-encryption.org/v1\n${part.repeat(parts)}--- ${'A'.repeat(43)}\n`;
  const tooLong = {
    kind: 'usage',
    code: 'backup-unusable',
    message: /found expected a header of age of at most 65536 bytes/,
  };
  let tried = 0;
  t.capture(decrypter, 'decrypt', async (stream: ReadableStream<Uint8Array>) => {
    for await (const _ of stream) tried += 1;
    throw new Error('no identity matched');
  });
  await t.rejects(read(header(600)), { message: /no identity matched/ });
  t.equal(tried, 1);
  for (const long of [header(800), header(80_000), 'x'.repeat(3 << 20), 'short']) {
    await t.rejects(read(long), tooLong);
  }
  t.equal(tried, 1, 'no identity is tried on what is too long');
});
