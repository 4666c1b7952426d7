import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { type PayloadDescription, parsePayload } from '../../../lib/payload/payload.ts';
import { createArguments, payloadSources } from '../../unit/cli/payload-sources.ts';
import { sno } from '../../unit/cli/run-sno.ts';
import { ARM64, programBytes } from '../../unit/payload/elf/program.ts';
import { configOf, dockerArchive, hex, layerOf, tarOf } from '../../unit/payload/image/archives.ts';

let whole = '';

t.before(async () => {
  const folder = t.testdir({ sources: {} });
  const { arguments: given } = await payloadSources(join(folder, 'sources'));
  whole = join(folder, 'payload');
  const { code, err } = await sno(createArguments(whole, given));
  if (code !== 0) throw new Error(err);
});

function copyOf(t: Pick<Test, 'testdir'>): string {
  const dir = join(t.testdir(), 'payload');
  cpSync(whole, dir, { recursive: true });
  return dir;
}

const verify = (dir: string) => sno(['verify', 'payload', dir]);

t.test('one changed byte in any file is found, and the file is named', async (t) => {
  const files = readdirSync(whole, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(whole, path)).isFile(),
  );
  t.equal(files.length, 16);
  for (const path of files.filter((name) => name !== 'payload.yaml')) {
    const dir = copyOf(t);
    const bytes = readFileSync(join(dir, path));
    const middle = bytes.length >> 1;
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    writeFileSync(join(dir, path), bytes);
    const { code, err } = await verify(dir);
    t.equal(code, 2, path);
    t.match(err, new RegExp(`has 1 error:\n  ${path}: expected SHA-256 .*; found`));
  }
});

/** Replaces a file's bytes, and updates its size and digest in payload.yaml. */
function forge(dir: string, path: string, bytes: Buffer): void {
  writeFileSync(join(dir, path), bytes);
  edit(dir, ({ images, binaries }) => {
    for (const entry of [...images, ...binaries]) {
      if (('file' in entry ? entry.file : entry.archive) !== path) continue;
      Object.assign(entry, { size: bytes.length, sha256: hex(bytes) });
    }
  });
}

function edit(dir: string, change: (description: PayloadDescription) => void): void {
  const path = join(dir, 'payload.yaml');
  const description = parsePayload(readFileSync(path, 'utf8'), path);
  change(description);
  writeFileSync(path, stringify(description));
}

const etcd = 'registry.k8s.io/etcd:3.6.8-0';
const etcdArchive = async (references: string[], text = 'etcd') =>
  tarOf(await dockerArchive([{ references, layer: await layerOf(text) }]));

type Damage = (dir: string) => void | Promise<void>;
const faulty: readonly [name: string, damage: Damage, faults: readonly RegExp[]][] = [
  [
    'missing files',
    (dir) => {
      rmSync(join(dir, 'images/etcd.tar'));
      rmSync(join(dir, 'bin/kubelet'));
    },
    [
      /2 errors/,
      /images\/etcd\.tar: The payload does not contain/,
      /bin\/kubelet: The payload does not contain/,
    ],
  ],
  [
    'files that nothing names',
    (dir) => {
      writeFileSync(join(dir, 'notes.txt'), 'x');
      mkdirSync(join(dir, 'more/below'), { recursive: true });
      symlinkSync('/etc/passwd', join(dir, 'more/below/link'));
    },
    [/2 errors/, /notes\.txt: not listed/, /more\/below\/link: not listed in payload\.yaml/],
  ],
  [
    'a cut file',
    (dir) => truncateSync(join(dir, 'bin/kubelet'), 10),
    [/bin\/kubelet: another size; expected \d+ bytes; found 10/],
  ],
  [
    'a link in place of a file',
    (dir) => {
      rmSync(join(dir, 'bin/kubelet'));
      symlinkSync('../cni/bridge', join(dir, 'bin/kubelet'));
    },
    [/bin\/kubelet: .*not a regular file.*a link to/],
  ],
  [
    'a program that is not executable',
    (dir) => chmodSync(join(dir, 'bin/kubelet'), 0o644),
    [/bin\/kubelet: a program that cannot be run; expected mode 0755; found 0644/],
  ],
  [
    'a script as a program',
    (dir) => forge(dir, 'bin/kubelet', Buffer.from('#!/bin/sh\n')),
    [/bin\/kubelet: .*not a Linux program/],
  ],
  [
    'a program for another architecture',
    (dir) => forge(dir, 'cni/bridge', programBytes({ machine: ARM64 })),
    [/cni\/bridge: a program for another architecture; expected amd64; found arm64/],
  ],
  [
    'a payload for other hosts',
    (dir) =>
      edit(dir, (description) => {
        description.architecture = 'arm64';
      }),
    [
      /15 errors/,
      /images\/etcd\.tar: an image for another architecture; expected arm64; found amd64/,
    ],
  ],
  [
    'another image under the reference',
    async (dir) => forge(dir, 'images/etcd.tar', await etcdArchive([etcd], 'other')),
    [/images\/etcd\.tar: another image; expected sha256:.*; found sha256:/],
  ],
  [
    'the image under another reference',
    async (dir) => forge(dir, 'images/etcd.tar', await etcdArchive(['r.io/etcd:1'])),
    [/images\/etcd\.tar: another image; expected registry\.k8s\.io\/etcd.*found r\.io\/etcd:1/],
  ],
  [
    'another layer',
    async (dir) => {
      const layer = await layerOf('etcd');
      const entries = await dockerArchive([{ references: [etcd], layer }]);
      const other = await layerOf('other');
      const forged = entries.map(
        ([name, contents]) =>
          [name, name === `${hex(layer)}.tar` ? other : String(contents)] as const,
      );
      forge(dir, 'images/etcd.tar', await tarOf(forged));
    },
    [/images\/etcd\.tar: another layer \w{64}\.tar; expected SHA-256/],
  ],
  [
    'a compressed archive',
    async (dir) => forge(dir, 'images/etcd.tar', gzipSync(await etcdArchive([etcd]))),
    [/expected a docker archive, not compressed; found docker, compression gzip/],
  ],
  [
    'no archive',
    (dir) => forge(dir, 'images/etcd.tar', Buffer.alloc(2048, 'x')),
    [/images\/etcd\.tar: a truncated or damaged tar archive/],
  ],
  [
    'a description without required parts',
    (dir) => {
      rmSync(join(dir, 'images/pause.tar'));
      rmSync(join(dir, 'bin/etcdutl'));
      edit(dir, (description) => {
        description.images = description.images.filter(({ name }) => name !== 'pause');
        description.binaries = description.binaries.filter(({ name }) => name !== 'etcdutl');
      });
    },
    [/2 errors/, /payload\.yaml has no image pause/, /payload\.yaml has no binary etcdutl/],
  ],
  [
    'a description that is none',
    (dir) => writeFileSync(join(dir, 'payload.yaml'), 'kind: x'),
    [/kind/],
  ],
  ['no description', (dir) => rmSync(join(dir, 'payload.yaml')), [/No payload found/]],
];

for (const [name, damage, faults] of faulty) {
  t.test(`found: ${name}`, async (t) => {
    const dir = copyOf(t);
    await damage(dir);
    const { code, out, err } = await verify(dir);
    t.match({ code, out }, { code: 2, out: '' });
    for (const fault of faults) t.match(err, fault);
  });
}

t.test('a payload made by another tool is accepted too', async (t) => {
  const dir = copyOf(t);
  const layer = await layerOf('etcd');
  forge(dir, 'images/etcd.tar', await etcdArchive(['r.io/other:1', etcd]));
  edit(dir, ({ images }) => {
    const image = images.find(({ name }) => name === 'etcd');
    if (image !== undefined) image.id = `sha256:${hex(configOf({}, layer))}`;
  });
  const { code, out, err } = await verify(dir);
  t.match({ code, err }, { code: 0, err: '' });
  t.match(out, `SHA-256 of payload.yaml: ${hex(readFileSync(join(dir, 'payload.yaml')))}`);
  t.ok(parse(readFileSync(join(dir, 'payload.yaml'), 'utf8')));
});
