/** What a power cut leaves in the store of CRI-O, which itself does not read the files of images. */
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { connectHostRuntime } from '../../../lib/clients/cri/runtime.ts';
import { bringPayload } from '../../../lib/payload/bring.ts';
import { crioImporter } from '../../../lib/payload/crio.ts';
import { readImported, writeImported } from '../../../lib/payload/imported.ts';
import { hex, layerOf, tarOf } from '../../unit/payload/image/archives.ts';
import { host } from './bringing-host.ts';

const limits = { signal: AbortSignal.timeout(120_000), deadlineMs: 60_000 };
const REFERENCE = 'r.test/etcd:1';
const STORE = '/var/lib/containers/storage/overlay';

/** An image of two layers in its archive, and as containers-storage unpacks it. */
async function imageOn(t: Test) {
  const it = await host(t, 'cri-o');
  const layers = [await layerOf('below'), await tarOf([['bin/etcd', 'a program']])];
  const config = JSON.stringify({
    ...{ architecture: 'amd64', os: 'linux' },
    rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${hex(layer)}`) },
  });
  const names = layers.map((layer) => `${hex(layer)}.tar`);
  const entry = { Config: `${hex(config)}.json`, RepoTags: [REFERENCE], Layers: names };
  const archive = await tarOf([
    ['manifest.json', JSON.stringify([entry])],
    [entry.Config, config],
    ...layers.map((layer, at) => [names[at] ?? '', layer] as const),
  ]);
  const path = join(it.payload, 'images/etcd.tar');
  writeFileSync(path, archive);
  const id = `sha256:${hex(config)}`;
  // storage_dest.go of containers/image: the lowest by its diff id, the others by a digest over those below.
  const [lowest = '', upper = ''] = layers.map((layer) => hex(layer));
  const folders = [lowest, hex(`${lowest}+${upper}`)].map((name) =>
    it.paths.at(`${STORE}/${name}/diff`),
  );
  const [below = '', above = ''] = folders;
  const unpack = () => {
    for (const folder of folders) mkdirSync(join(folder, 'bin'), { recursive: true });
    writeFileSync(join(below, 'file'), 'below');
    writeFileSync(join(above, 'bin/etcd'), 'a program');
  };
  const description = join(it.payload, 'payload.yaml');
  const described = JSON.parse(readFileSync(description, 'utf8'));
  Object.assign(described.images[0], { id, size: archive.length, sha256: hex(archive) });
  writeFileSync(description, JSON.stringify(described));
  const image = { name: 'etcd', reference: REFERENCE, id, path };
  return { ...it, image, unpack, program: join(above, 'bin/etcd'), give: it.program, below };
}

t.test('unpacked files are compared with the archive', async (t) => {
  const { paths, image, unpack, program, below } = await imageOn(t);
  using runtime = connectHostRuntime(paths);
  const importer = crioImporter(runtime, paths);
  t.equal(await importer.damage(image, limits), undefined, 'nothing is unpacked');
  unpack();
  t.equal(await importer.damage(image, limits), undefined);
  truncateSync(program, 0);
  t.equal(await importer.damage(image, limits), '/bin/etcd has 0 of 9 bytes');
  writeFileSync(join(below, 'file'), 'BELOW');
  t.equal(await importer.damage(image, limits), '/file has other contents');
  rmSync(paths.at(STORE), { recursive: true });
  t.equal(await importer.damage(image, limits), undefined, 'as after "crio wipe"');
});

t.test('an image with empty files is removed and imported again', async (t) => {
  const { paths, payload, progress, image, unpack, program, give, stored, called, lines } =
    await imageOn(t);
  unpack();
  truncateSync(program, 0);
  const store = paths.at(STORE);
  stored.get = () => (existsSync(store) ? { id: image.id, pinned: true } : undefined);
  give(
    'systemd-run',
    `case "$*" in
      *"podman rmi"*) mv ${store} ${store}.removed ;;
      *"podman load"*) mv ${store}.removed ${store} && printf 'a program' > ${program} ;;
    esac\n`,
  );
  await bringPayload(payload, paths, progress);
  t.match(lines.join(''), /The runtime's copy of etcd is damaged: \/bin\/etcd has 0 of 9 bytes/);
  t.notMatch(lines.join(''), /still damaged/);
  const programs = called().flatMap((line) => line.split(' -- ')[1] ?? []);
  t.strictSame(programs, [`podman rmi ${REFERENCE}`, `podman load --quiet --input ${image.path}`]);
  t.equal(readFileSync(program, 'utf8'), 'a program');
  t.ok((await readImported(paths)).has(image.id));
});

t.test('one that something needs is told, and not taken for whole', async (t) => {
  const { paths, payload, progress, image, unpack, program, give, stored, lines } =
    await imageOn(t);
  unpack();
  truncateSync(program, 0);
  stored.set(REFERENCE, { id: image.id, pinned: true });
  give('systemd-run', 'echo "image is in use by a container" >&2; exit 2\n');
  await bringPayload(payload, paths, progress);
  t.match(lines.join(''), /copy of etcd is still damaged: .*A pod needs it: restart the host/);
  t.notOk((await readImported(paths)).has(image.id), 'looked at again at the next boot');
});

t.test('what the record vouches for is not compared', async (t) => {
  const { paths, payload, progress, image, unpack, program, stored, called } = await imageOn(t);
  unpack();
  truncateSync(program, 0);
  stored.set(REFERENCE, { id: image.id, pinned: true });
  await writeImported(paths, [image.id]);
  await bringPayload(payload, paths, progress);
  t.notOk(called().some((line) => line.includes('podman')));
  t.ok((await readImported(paths)).has(image.id));
});

t.test('layers that no image names are removed with the image', async (t) => {
  const { paths, image, unpack, called, stored, unheard, give, folder } = await imageOn(t);
  unpack();
  unheard.add(REFERENCE);
  stored.set(REFERENCE, { id: image.id, pinned: true });
  give('systemd-run', `case "$*" in *"podman rmi"*) touch ${folder}/gone ; exit 1 ;; esac\n`);
  using runtime = connectHostRuntime(paths);
  await crioImporter(runtime, paths).discard([image], limits);
  const programs = called().flatMap((line) => line.split(' -- ')[1] ?? []);
  t.strictSame(programs, [`podman load --quiet --input ${image.path}`, `podman rmi ${REFERENCE}`]);
});
