import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { pack } from 'tar-stream';
import { imageIdInArchive } from '../../../lib/payload/docker-archive.ts';
import { type ImageImporter, importImages, type StoredImage } from '../../../lib/payload/images.ts';
import type { Payload } from '../../../lib/payload/payload.ts';

const signal = AbortSignal.timeout(30_000);
const config = '{"architecture":"amd64"}';
const id = `sha256:${createHash('sha256').update(config).digest('hex')}`;
const hex = 'a'.repeat(64);

function tarOf(files: Record<string, string>): Promise<Buffer> {
  const tar = pack();
  for (const [name, contents] of Object.entries(files)) tar.entry({ name }, contents);
  tar.finalize();
  return buffer(tar);
}

function archiveOf(reference: string): Promise<Buffer> {
  const manifest = [{ Config: 'c.json', RepoTags: [reference], Layers: ['layer.tar'] }];
  return tarOf({
    'layer.tar': 'x'.repeat(2 << 20),
    'c.json': config,
    'manifest.json': JSON.stringify(manifest),
  });
}

t.test('the id of an image in an archive', async (t) => {
  const find = async (archive: Buffer) =>
    imageIdInArchive(Readable.from([archive]), 'r/etcd:1', 'etcd.tar', signal);
  t.equal(await find(await archiveOf('r/etcd:1')), id);
  const cases: [Record<string, string>, RegExp][] = [
    [
      { 'manifest.json': '[{"Config":"c.json","RepoTags":["r/other:1"]}]' },
      /expected r\/etcd:1; found r\/other:1/,
    ],
    [
      { 'manifest.json': '[{"Config":"c.json","RepoTags":["r/etcd:1"]}]' },
      /no configuration c\.json/,
    ],
    [{ 'manifest.json': '[{"Config":"c.json","RepoTags":null}]' }, /found no name/],
    [{ 'manifest.json': '{' }, /no manifest\.json/],
    [{ 'index.json': '{}' }, /no manifest\.json/],
  ];
  for (const [files, error] of cases) await t.rejects(find(await tarOf(files)), error);
  await t.rejects(find(Buffer.from('x'.repeat(1024))), Error, 'not a tar');
});

/** A runtime that holds images by name, and knows what its archives hold. Notes each change. */
class FakeImporter implements ImageImporter {
  readonly stored = new Map<string, StoredImage>();
  readonly done: string[] = [];
  readonly #sandbox: string | undefined;
  readonly #archives: Record<string, string>;

  constructor(sandbox: string | undefined, archives: Record<string, string>) {
    this.#sandbox = sandbox;
    this.#archives = archives;
  }
  async sandboxImage() {
    return this.#sandbox;
  }
  async find(reference: string) {
    return this.stored.get(reference);
  }
  async importArchive(path: string) {
    const reference = this.#archives[path.split('/').at(-1) ?? ''] ?? 'unknown';
    this.done.push(`import ${reference}`);
    this.stored.set(reference, { id, pinned: false });
  }
  async tag(reference: string, newReference: string) {
    this.done.push(`tag ${newReference}`);
    this.stored.set(newReference, { id: this.stored.get(reference)?.id ?? '', pinned: false });
  }
  async pin(reference: string) {
    this.done.push(`pin ${reference}`);
    this.stored.set(reference, { id: this.stored.get(reference)?.id ?? '', pinned: true });
  }
}

t.test('images are imported once, pinned, and the sandbox image gets its name', async (t) => {
  const directory = t.testdir();
  const names = { 'etcd.tar': 'r/etcd:1', 'pause.tar': 'r/pause:2' };
  for (const [file, reference] of Object.entries(names)) {
    writeFileSync(join(directory, file), await archiveOf(reference));
  }
  const payload: Payload = {
    directory,
    apiVersion: 'sno-agents/v1',
    kind: 'Payload',
    versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
    images: [
      { name: 'etcd', reference: 'r/etcd:1', archive: 'etcd.tar', sha256: hex },
      { name: 'pause', reference: 'r/pause:2', archive: 'pause.tar', sha256: hex },
    ],
    binaries: [],
  };
  const run = (importer: ImageImporter) =>
    importImages(payload, importer, { signal, deadlineMs: 1000, report: () => {} });

  const fresh = new FakeImporter('r/pause:1', names);
  t.strictSame(await run(fresh), ['etcd', 'pause']);
  const everything = ['import r/etcd:1', 'pin r/etcd:1', 'import r/pause:2', 'pin r/pause:2'];
  t.strictSame(fresh.done, [...everything, 'tag r/pause:1', 'pin r/pause:1']);
  t.strictSame(await run(fresh), [], 'a second run imports nothing');
  t.equal(fresh.done.length, 6, 'and changes nothing');

  const stale = new FakeImporter('r/pause:2', names);
  stale.stored.set('r/etcd:1', { id: 'sha256:other', pinned: true });
  stale.stored.set('r/pause:2', { id, pinned: false });
  t.strictSame(await run(stale), ['etcd'], 'another image of that name is replaced');
  t.strictSame(stale.done, ['import r/etcd:1', 'pin r/etcd:1', 'pin r/pause:2']);

  const silent = new FakeImporter(undefined, { ...names, 'etcd.tar': 'r/wrong:1' });
  await t.rejects(run(silent), /does not have r\/etcd:1; expected sha256:.*found no such image/);
});
