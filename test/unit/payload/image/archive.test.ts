import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { tarEntries } from '../../../../lib/base/archive/tar.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { readImageArchive, readLayers } from '../../../../lib/payload/image/archive.ts';
import {
  configOf,
  dockerArchive,
  type Entries,
  hex,
  layerOf,
  ociArchive,
  tarOf,
} from './archives.ts';

const signal = new AbortController().signal;
const reference = 'registry.k8s.io/etcd:3.6.8-0';
const nameAnnotation = 'org.opencontainers.image.ref.name';

async function archive(t: Pick<Test, 'testdir'>, contents: Entries | Buffer): Promise<string> {
  const path = join(t.testdir(), 'archive.tar');
  writeFileSync(path, Buffer.isBuffer(contents) ? contents : await tarOf(contents));
  return path;
}

/** In the format of newer versions of `docker save`: an OCI layout with an additional manifest.json. */
async function dockerWithLayout(layer: Buffer): Promise<Entries> {
  const entries = await ociArchive([{ layer }, { layer: await layerOf('other') }]);
  const blob = (contents: string | Buffer) => `blobs/sha256/${hex(contents)}`;
  const images = [{ config: configOf({}, layer), layer, tags: [reference] }];
  const other = await layerOf('other');
  images.push({ config: configOf({}, other), layer: other, tags: [] });
  const manifest = images.map(({ config, layer, tags }) => ({
    Config: blob(config),
    RepoTags: tags,
    Layers: [blob(layer)],
  }));
  const layers = images.map(({ layer }) => [blob(layer), layer] as const);
  return [...entries, ...layers, ['manifest.json', JSON.stringify(manifest)]];
}

t.test('images in every kind of archive', async (t) => {
  const layer = await layerOf('etcd');
  const image = { references: [reference], layer };
  const docker = await tarOf(await dockerArchive([image, { references: null }]));
  const named = { layer, annotations: { [nameAnnotation]: reference } };
  const cases: [name: string, contents: Entries | Buffer, format: string, compression: string][] = [
    ['docker', docker, 'docker', 'none'],
    ['docker with an OCI layout', await dockerWithLayout(layer), 'docker', 'none'],
    ['docker, gzip', gzipSync(docker), 'docker', 'gzip'],
    ['docker, zstd', zstdCompressSync(docker), 'docker', 'zstd'],
    ['OCI', await ociArchive([named]), 'oci', 'none'],
    [
      'OCI with an index',
      await ociArchive([{ layer }], { [nameAnnotation]: reference }),
      'oci',
      'none',
    ],
    [
      "OCI, containerd's name first",
      await ociArchive([
        { layer, annotations: { 'io.containerd.image.name': reference, [nameAnnotation]: '1' } },
      ]),
      'oci',
      'none',
    ],
    [
      'OCI with an attestation and another system',
      await ociArchive([
        named,
        { layer: await layerOf('a'), platform: { os: 'unknown', architecture: 'unknown' } },
        {
          os: 'windows',
          layer: await layerOf('w'),
          platform: { os: 'windows', architecture: 'amd64' },
        },
      ]),
      'oci',
      'none',
    ],
  ];
  for (const [name, contents, format, compression] of cases) {
    const found = await readImageArchive(await archive(t, contents), signal);
    t.match(found, { format, compression }, name);
    const [first, ...others] = found.images;
    t.equal(others.length, format === 'docker' ? 1 : 0, name);
    const id = `sha256:${hex(configOf({}, layer))}`;
    t.match(first, { references: [reference], id, architecture: 'amd64' }, name);
    const layers: string[] = [];
    await readLayers(
      found.path,
      new Set(first?.layers.map(({ entry }) => entry)),
      async (_, content) => void layers.push(hex(await buffer(content))),
      signal,
    );
    t.strictSame(layers, [hex(layer)], `${name}: the layer as its digest has it`);
    t.equal(first?.layers[0]?.diffId, hex(layer), name);
  }
});

t.test('an image with two names', async (t) => {
  const layer = await layerOf('etcd');
  const again = 'mirror.example.com/etcd:1';
  const names = [reference, again].map((name) => ({
    layer,
    annotations: { [nameAnnotation]: name },
  }));
  // The second descriptor has the same manifest.
  const entries = (await ociArchive(names)).filter(
    ([name], index, all) => all.findIndex(([other]) => other === name) === index,
  );
  const { images } = await readImageArchive(await archive(t, entries), signal);
  t.strictSame(
    images.map(({ references }) => references),
    [[reference, again]],
  );
});

const manifest = (entry: object) => JSON.stringify([entry]);

t.test('faults of an archive are reported', async (t) => {
  const good = await dockerArchive([{ references: [reference] }]);
  const without = (pattern: RegExp) => good.filter(([name]) => !pattern.test(name));
  const layerName = good[0]?.[0] ?? '';
  const config = JSON.stringify({ architecture: 'amd64', os: 'linux' });
  const oci = await ociArchive([{}]);
  const cases: [name: string, contents: Entries | Buffer, error: RegExp][] = [
    ['empty', Buffer.alloc(0), /neither manifest\.json/],
    [
      'zeros, of which a sparse file may have any number',
      Buffer.alloc(4096),
      /zeros at its beginning/,
    ],
    ['noise', Buffer.alloc(4096, 'x'), /a truncated or damaged tar archive/],
    ['a cut tar', (await tarOf(good)).subarray(0, 1500), /a truncated or damaged tar archive/],
    ['a cut gzip', gzipSync(await tarOf(good)).subarray(0, 300), /truncated or damaged gzip data/],
    [
      'a cut zstd',
      zstdCompressSync(await tarOf(good)).subarray(0, 300),
      /truncated or damaged zstd data/,
    ],
    [
      'damaged gzip',
      Buffer.concat([gzipSync('x').subarray(0, 12), Buffer.alloc(99, 'x')]),
      /truncated or damaged gzip data/,
    ],
    ['a tar of other things', [['README', 'text']], /neither manifest\.json .*nor index\.json/],
    ['a way out', [...good, ['../../etc/passwd', '']], /a file "\.\.\/\.\.\/etc\/passwd"/],
    ['a way out in the middle', [...good, ['a/../../b', '']], /a file "a\//],
    ['an absolute name', [...good, ['/etc/passwd', '']], /a file "\/etc\/passwd"/],
    ['a name twice', [...good, ['manifest.json', '[]']], /manifest\.json occurs twice/],
    ['no JSON', [['manifest.json', '[']], /manifest\.json with contents/],
    ['no images', [['manifest.json', '[]']], /manifest\.json with contents/],
    ['another shape', [['manifest.json', manifest({ Config: 1 })]], /with 0\.Config/],
    ['no configuration', without(/^\w{64}\.json/), /no JSON file \w{64}\.json/],
    ['no layer', without(/tar$/), /no layer \w{64}\.tar/],
    [
      'a link for a layer',
      [...without(/tar$/), [layerName, { type: 'symlink', linkname: '/etc/shadow' }]],
      /a symlink in place of the layer/,
    ],
    [
      'a configuration by a link',
      [...without(/^\w{64}\.json/), [good[1]?.[0] ?? '', { type: 'link', linkname: 'x' }]],
      /no JSON file/,
    ],
    [
      'a configuration with another digest',
      good.map(([name, contents]) => [
        name,
        /^\w{64}\.json/.test(name) ? `${contents} ` : contents,
      ]),
      /\.json with another digest/,
    ],
    [
      'not an image configuration',
      [
        ['c.json', config],
        ['manifest.json', manifest({ Config: 'c.json', Layers: [] })],
      ],
      /c\.json, which is not an image configuration/,
    ],
    ['Windows', await dockerArchive([{ os: 'windows' }]), /an image for windows/],
    [
      'fewer layers',
      good.map(([name, contents]) => [
        name,
        name === 'manifest.json' ? manifest({ Config: good[1]?.[0], Layers: [] }) : contents,
      ]),
      /0 layers, but \w{64}\.json has 1/,
    ],
    [
      'a manifest without end',
      [['manifest.json', Buffer.from(`[${' '.repeat(5 << 20)}]`)]],
      /neither manifest\.json/,
    ],
    [
      'manifests without end',
      Array.from({ length: 9 }, (_, n) => [`${n}.json`, Buffer.from(`[${' '.repeat(4e6)}]`)]),
      /at most 32 MiB/,
    ],
    [
      'an OCI manifest with another digest',
      oci.map(([name, contents]) => [
        name,
        String(contents).includes('"layers":[{') ? `${contents} ` : contents,
      ]),
      /with another digest/,
    ],
    [
      'an OCI digest that leads elsewhere',
      [['index.json', '{"manifests":[{"digest":"sha256:../../x"}]}']],
      /index\.json with manifests\.0\.digest/,
    ],
  ];
  for (const [name, contents, error] of cases) {
    const path = await archive(t, contents);
    await t.rejects(readImageArchive(path, signal), error, name);
    await t.rejects(readImageArchive(path, signal), Failure, name);
  }
  await t.rejects(readImageArchive(join(t.testdir(), 'absent'), signal), { code: 'ENOENT' });
});

t.test('reading ends at its limits and when aborted', async (t) => {
  const tar = await tarOf(Array.from({ length: 50 }, (_, n) => [`${n}`, 'x'.repeat(1000)]));
  const read = async (limits: { entries: number; bytes: number }, stop = signal) => {
    const names: string[] = [];
    const source = (async function* () {
      yield tar;
    })();
    for await (const { name } of tarEntries(source, stop, limits)) names.push(name);
    return names.length;
  };
  t.equal(await read({ entries: 50, bytes: tar.length }), 50);
  await t.rejects(read({ entries: 49, bytes: tar.length }), /more than 49 files/);
  await t.rejects(read({ entries: 50, bytes: tar.length - 1 }), /more than 1 MiB/);
  const stopped = AbortSignal.abort(new Error('stopped'));
  await t.rejects(read({ entries: 50, bytes: tar.length }, stopped), /stopped/);
});
