/** `sno create payload --compress`, and the commands that take such a payload. */
import { cpSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { filesOf, readWholePayload } from '../../../cli/create/medium-files.ts';
import { acceptedPayload } from '../../../cli/payload/accept.ts';
import { copyPayloadTo } from '../../../lib/payload/copy.ts';
import { type PayloadDescription, readPayload } from '../../../lib/payload/payload.ts';
import { agentsExecutable } from '../../unit/cli/agents-executable.ts';
import { createArguments, payloadSources } from '../../unit/cli/payload-sources.ts';
import { sno } from '../../unit/cli/run-sno.ts';
import { hex } from '../../unit/payload/image/archives.ts';

const { signal } = new AbortController();
const has = async (program: string) =>
  (await execa(program, ['--version'], { reject: false })).code !== 'ENOENT';

let plain = '';
let compressed = '';
let printed = '';
t.before(async () => {
  const folder = t.testdir({ sources: {} });
  const { arguments: given } = await payloadSources(join(folder, 'sources'));
  plain = join(folder, 'plain');
  compressed = join(folder, 'compressed');
  const created = [
    await sno(createArguments(plain, given)),
    await sno([...createArguments(compressed, given), '--compress']),
    await sno([...createArguments(`${compressed}-2`, given), '--compress']),
  ];
  for (const { code, err } of created) if (code !== 0) throw new Error(err);
  printed = created[1]?.out ?? '';
});

/** The files below a folder with their digests. */
function contentsOf(dir: string): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(files.map((path) => [path.slice(dir.length), hex(readFileSync(path))]));
}

function copyOf(t: Pick<Test, 'testdir'>): string {
  const dir = join(t.testdir(), 'payload');
  cpSync(compressed, dir, { recursive: true });
  return dir;
}

function edit(dir: string, change: (description: PayloadDescription) => void): void {
  const path = join(dir, 'payload.yaml');
  const description = parse(readFileSync(path, 'utf8'));
  change(description);
  writeFileSync(path, stringify(description));
}

t.test('it has the same files, compressed, and each again when it is created again', async (t) => {
  const names = Object.keys(contentsOf(plain)).filter((name) => name !== '/payload.yaml');
  t.strictSame(
    Object.keys(contentsOf(compressed)).toSorted(),
    [...names.map((name) => `${name}.zst`), '/payload.yaml'].toSorted(),
  );
  t.strictSame(contentsOf(`${compressed}-2`), contentsOf(compressed));
  t.match(printed, /9 images, 6 binaries, 0\.1 MB, 0\.\d MB compressed/);
  t.equal(statSync(join(compressed, 'bin/kubelet.zst')).mode & 0o777, 0o644);
  const verified = await sno(['verify', 'payload', compressed]);
  t.match(verified, { code: 0, err: '' });
  t.equal(printed, `Wrote ${compressed}\n${verified.out}`, 'verify prints the same');
  const described = ({ images, binaries }: PayloadDescription) =>
    [...images, ...binaries].map(({ zstd: _, ...entry }) => entry);
  t.strictSame(described(await readPayload(compressed)), described(await readPayload(plain)));
});

t.test('zstd decompresses it', { skip: !(await has('zstd')) && 'no zstd' }, async (t) => {
  const dir = copyOf(t);
  const folders = ['images', 'bin', 'cni'].map((name) => join(dir, name));
  await execa('zstd', ['-q', '-d', '--rm', '-r', ...folders]);
  const { '/payload.yaml': _, ...files } = contentsOf(dir);
  const { '/payload.yaml': __, ...expected } = contentsOf(plain);
  t.strictSame(files, expected);
});

t.test('one changed byte in any file is found, and the file is named', async (t) => {
  for (const path of ['images/etcd.tar.zst', 'bin/kubelet.zst', 'cni/bridge.zst']) {
    const dir = copyOf(t);
    const bytes = readFileSync(join(dir, path));
    const middle = bytes.length >> 1;
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    writeFileSync(join(dir, path), bytes);
    const { code, err } = await sno(['verify', 'payload', dir]);
    t.equal(code, 2, path);
    t.match(err, new RegExp(`has 1 error:\n  ${path}: expected SHA-256 .*; found`));
    const medium = readWholePayload(dir, signal);
    await t.rejects(medium, { kind: 'usage', message: new RegExp(`${path}: expected SHA-256`) });
  }
});

const faulty: readonly [name: string, damage: (dir: string) => void, fault: RegExp][] = [
  [
    'a cut file',
    (dir) => truncateSync(join(dir, 'bin/kubelet.zst'), 10),
    /bin\/kubelet\.zst: another size; expected \d+ bytes; found 10/,
  ],
  [
    'a compressed file that has something else in it',
    (dir) => edit(dir, ({ binaries: [first] }) => Object.assign(first ?? {}, { sha256: hex('x') })),
    /: \S+\.zst is damaged; found \S+: expected SHA-256 \w{64}, found \w{64}/,
  ],
  [
    'a compressed file that expands to more',
    (dir) => edit(dir, ({ images: [first] }) => Object.assign(first ?? {}, { size: 100 })),
    /: \S+\.zst is damaged; found \S+: more than the 100 bytes that are stated/,
  ],
  [
    'both forms of a file',
    (dir) => cpSync(join(plain, 'bin/kubelet'), join(dir, 'bin/kubelet')),
    /bin\/kubelet: not listed in payload\.yaml/,
  ],
  [
    'another version than that of a program',
    (dir) =>
      edit(dir, ({ versions }) => {
        versions.kubernetes = 'v1.36.0';
      }),
    /states kubernetes v1\.36\.0, but .*kubelet is v1\.37\.2/,
  ],
];
for (const [name, damage, fault] of faulty) {
  t.test(`found: ${name}`, async (t) => {
    const dir = copyOf(t);
    damage(dir);
    const { code, out, err } = await sno(['verify', 'payload', dir]);
    t.match({ code, out }, { code: 2, out: '' });
    t.match(err, fault);
  });
}

t.test('a medium has the compressed files, once their versions are known', async (t) => {
  const dir = copyOf(t);
  const paths = filesOf('/x', await readWholePayload(dir, signal)).map(({ path }) => path);
  t.equal(paths.length, 1 + 1 + 15);
  t.ok(paths.includes('/sno-agents/payload/bin/kubelet.zst'));
  t.notOk(paths.includes('/sno-agents/payload/bin/kubelet'));
  await acceptedPayload(await readPayload(dir), 'install', {}, signal);
  edit(dir, ({ versions }) => {
    versions.kubernetes = 'v1.36.0';
  });
  await t.rejects(acceptedPayload(await readPayload(dir), 'install', {}, signal), {
    kind: 'usage',
    message: /but binary kubelet is v1\.37\.2/,
  });
});

const skip = !(await has('ssh-keygen')) && 'no ssh-keygen';
t.test('an update has them, and a host what is in them', { skip }, async (t) => {
  const folder = t.testdir({ 'sno-agents': agentsExecutable() });
  const [key, dir] = [join(folder, 'key'), join(folder, 'update')];
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const options = {
    dir,
    payload: compressed,
    key,
    'agents-executable': join(folder, 'sno-agents'),
  };
  const created = await sno([
    ...['create', 'update'],
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
  ]);
  t.equal(created.code, 0, created.err);
  t.strictSame(contentsOf(join(dir, 'payload')), contentsOf(compressed));
  t.match(await sno(['verify', 'update', dir, '--ssh-key', `${key}.pub`]), { code: 0 });
  const stated = JSON.parse(readFileSync(join(dir, 'update.json'), 'utf8')).payload.size;
  const host = join(folder, 'host');
  await copyPayloadTo(await readPayload(join(dir, 'payload')), host, signal);
  const { '/payload.yaml': _, ...files } = contentsOf(host);
  const { '/payload.yaml': __, ...expected } = contentsOf(plain);
  t.strictSame(files, expected);
  const sizes = Object.keys(files).map((name) => statSync(join(host, name)).size);
  t.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    stated,
    'a host reserves what it needs',
  );
});
