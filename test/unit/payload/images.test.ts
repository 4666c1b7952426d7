import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Failure } from '../../../lib/base/errors/failure.ts';
import {
  type ArchivedCopy,
  type ImageImporter,
  type ImportedImage,
  importImages,
} from '../../../lib/payload/images.ts';
import type { Payload } from '../../../lib/payload/payload.ts';

const signal = new AbortController().signal;
const hex = 'a'.repeat(64);
const id = `sha256:${hex}`;

/** A runtime with images by name that knows the contents of its archives. Records each change. */
class FakeImporter implements ImageImporter {
  readonly stored = new Map<string, ImportedImage>();
  readonly done: string[] = [];
  readonly #sandbox: string | undefined;
  readonly #archives: Record<string, string>;

  constructor(sandbox: string | undefined, archives: Record<string, string>) {
    this.#sandbox = sandbox;
    this.#archives = archives;
  }
  async prepare() {}
  async sandboxImage() {
    return this.#sandbox;
  }
  async find(reference: string) {
    return this.stored.get(reference);
  }
  /** What is wrong with the unpacked files, by reference. */
  readonly damages = new Map<string, string>();
  async damage({ reference }: ArchivedCopy) {
    return this.damages.get(reference);
  }
  async discard(images: readonly ArchivedCopy[]) {
    for (const { reference } of images) {
      this.done.push(`discard ${reference}`);
      this.stored.delete(reference);
    }
  }
  async importArchive({ path }: Pick<ArchivedCopy, 'path'>): Promise<string | undefined> {
    const reference = this.#archives[path.split('/').at(-1) ?? ''] ?? 'unknown';
    this.done.push(`import ${reference}`);
    this.stored.set(reference, { id, pinned: false });
    this.damages.delete(reference);
    return undefined;
  }
  async tag(reference: string, newReference: string) {
    this.done.push(`tag ${reference} as ${newReference}`);
    this.stored.set(newReference, { id: this.stored.get(reference)?.id ?? '', pinned: false });
  }
  async pin(reference: string) {
    this.done.push(`pin ${reference}`);
    this.stored.set(reference, { id: this.stored.get(reference)?.id ?? '', pinned: true });
  }
}

t.test('images are imported once, pinned, and the sandbox image gets its name', async (t) => {
  const names = { 'etcd.tar': 'r/etcd:1', 'pause.tar': 'r/pause:2' };
  const directory = t.testdir({ 'etcd.tar': 'tar', 'pause.tar': 'tar' });
  const payload: Payload = {
    directory,
    descriptionSha256: hex,
    apiVersion: 'sno-agents/v1',
    kind: 'Payload',
    architecture: 'amd64',
    versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
    images: [
      { name: 'etcd', reference: 'r/etcd:1', id, archive: 'etcd.tar', size: 3, sha256: hex },
      { name: 'pause', reference: 'r/pause:2', id, archive: 'pause.tar', size: 3, sha256: hex },
    ],
    binaries: [],
  };
  const reports: string[] = [];
  const report = (text: string) => reports.push(text);
  const none = { imported: new Set<string>() };
  let verified = 0;
  const verify = async () => {
    verified += 1;
  };
  const run = async (importer: ImageImporter) => {
    const options = { signal, deadlineMs: 1000, report, warn: report, verify, ...none };
    return (await importImages(payload, importer, options)).imported;
  };

  const fresh = new FakeImporter('r/pause:1', names);
  t.strictSame(await run(fresh), ['etcd', 'pause']);
  const everything = ['import r/etcd:1', 'import r/pause:2', 'pin r/etcd:1', 'pin r/pause:2'];
  t.strictSame(fresh.done.slice(0, 4).sort(), everything);
  t.strictSame(fresh.done.slice(4), ['tag r/pause:2 as r/pause:1', 'pin r/pause:1']);
  t.strictSame(reports, ['import etcd', 'import pause', 'name the pause image r/pause:1']);
  t.strictSame(await run(fresh), [], 'a second run imports nothing');
  t.equal(fresh.done.length, 6, 'and changes nothing');
  t.equal(reports.length, 3, 'and says nothing');

  const unnamed = new FakeImporter(undefined, names);
  t.strictSame(await run(unnamed), ['etcd', 'pause']);
  t.strictSame(unnamed.done.sort(), everything, 'a runtime that names no image for sandboxes');

  const stale = new FakeImporter('r/pause:2', names);
  stale.stored.set('r/etcd:1', { id: 'sha256:other', pinned: true });
  stale.stored.set('r/pause:2', { id, pinned: false });
  t.strictSame(await run(stale), ['etcd'], 'another image of that name is replaced');
  t.strictSame(stale.done.sort(), ['import r/etcd:1', 'pin r/etcd:1', 'pin r/pause:2']);

  const renamed = new FakeImporter('r/pause:1', names);
  renamed.stored.set('r/pause:1', { id: 'sha256:other', pinned: true });
  await run(renamed);
  t.equal(renamed.stored.get('r/pause:1')?.id, id, 'the runtime starts sandboxes with ours');
  t.ok(renamed.done.includes('tag r/pause:2 as r/pause:1'));

  t.equal(verified, 0, 'no archive is read for nothing');
  const foreign = new FakeImporter(undefined, names);
  foreign.importArchive = async () => {
    foreign.stored.set('r/etcd:1', { id: 'sha256:foreign', pinned: false });
    return 'Imported etcd as a whole: the test says so';
  };
  await t.rejects(run(foreign), {
    kind: 'fatal',
    code: 'payload-damaged',
    message: new RegExp(`r/etcd:1; expected ${id}; found sha256:foreign`),
  });
  t.equal(reports.at(-1), 'Imported etcd as a whole: the test says so');
  t.strictSame(foreign.done, [], 'a foreign image is not pinned');
  t.equal(verified, 1, 'the archives are not the reason');

  const silent = new FakeImporter(undefined, { ...names, 'etcd.tar': 'r/wrong:1' });
  await t.rejects(
    run(silent),
    { kind: 'retry', message: /does not have r\/etcd:1; expected sha256:.*found no such image/ },
    'a runtime that is slow to list it says nothing about the payload',
  );
});

t.test('two images at once; one that fails does not keep the others away', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const directory = t.testdir(Object.fromEntries(names.map((name) => [`${name}.tar`, 'tar'])));
  const images = names.map((name) => ({
    ...{ name, reference: `r/${name}:1`, id, archive: `${name}.tar`, size: 3, sha256: hex },
  }));
  const payload: Payload = {
    ...{ directory, apiVersion: 'sno-agents/v1', kind: 'Payload', architecture: 'amd64' },
    ...{ versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' }, images, binaries: [] },
    descriptionSha256: hex,
  };
  const references = Object.fromEntries(images.map((each) => [each.archive, each.reference]));
  const importer = new FakeImporter(undefined, references);
  const atOnce: number[] = [];
  let running = 0;
  let refused: string = 'b.tar';
  const importArchive = importer.importArchive.bind(importer);
  importer.importArchive = async (image) => {
    const { path } = image;
    atOnce.push(++running);
    await sleep(5);
    running -= 1;
    if (path.endsWith(refused)) throw new Failure('retry', `${refused} is refused`);
    return importArchive(image);
  };
  const report = () => undefined;
  let verify = async () => undefined;
  const run = async () => {
    const options = { signal, deadlineMs: 1000, report, warn: report, imported: new Set<string>() };
    return (await importImages(payload, importer, { ...options, verify })).imported;
  };
  await t.rejects(run(), { message: 'b.tar is refused' }, 'the error of the image itself');
  t.equal(Math.max(...atOnce), 2);
  t.equal(running, 0, 'nothing goes on behind the failure');
  t.strictSame([...importer.stored.keys()].sort(), ['r/a:1', 'r/c:1', 'r/d:1', 'r/e:1']);
  verify = async () => {
    throw new Failure('fatal', 'b.tar is damaged');
  };
  await t.rejects(
    run(),
    { message: 'b.tar is damaged' },
    'what is wrong with its archive, if it is',
  );
  refused = 'none';
  t.strictSame(await run(), ['b'], 'the second attempt imports what the first has not');
});

t.test('an image whose unpacked files differ is removed before any is imported', async (t) => {
  const directory = t.testdir({ 'a.tar': 'tar', 'b.tar': 'tar' });
  const other = `sha256:${'b'.repeat(64)}`;
  const image = (name: string, of: string) => ({
    ...{ name, reference: `r/${name}:1`, id: of, archive: `${name}.tar`, size: 3, sha256: hex },
  });
  const payload: Payload = {
    ...{ directory, apiVersion: 'sno-agents/v1', kind: 'Payload', architecture: 'amd64' },
    versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
    descriptionSha256: hex,
    ...{ images: [image('a', id), image('b', other)], binaries: [] },
  };
  const importer = () => {
    const made = new FakeImporter(undefined, { 'a.tar': 'r/a:1', 'b.tar': 'r/b:1' });
    made.stored.set('r/a:1', { id, pinned: true });
    made.stored.set('r/b:1', { id: other, pinned: true });
    made.damages.set('r/a:1', '/a has 0 of 5 bytes');
    return made;
  };
  const said: string[] = [];
  const run = (importer: ImageImporter, imported: readonly string[] = []) =>
    importImages(payload, importer, {
      ...{ signal, deadlineMs: 1000, report: () => undefined, imported: new Set(imported) },
      warn: (sentence) => said.push(sentence),
      verify,
    });
  let verify = async () => undefined;

  const unknown = importer();
  t.strictSame(await run(unknown), { imported: ['a'], whole: [id, other] });
  t.strictSame(unknown.done, ['discard r/a:1', 'import r/a:1', 'pin r/a:1']);
  t.match(said, [/copy of a is damaged: \/a has 0 of 5 bytes/]);

  const known = importer();
  t.strictSame(await run(known, [id]), { imported: [], whole: [id, other] });
  t.strictSame(known.done, [], 'what is known to be on the disk is not read again');

  const sound = importer();
  verify = async () => {
    throw new Failure('fatal', 'a.tar is damaged');
  };
  said.length = 0;
  await t.rejects(run(sound), { message: 'a.tar is damaged' });
  t.strictSame([sound.done, said], [[], []], 'the archive differs, and not what is unpacked');
  verify = async () => undefined;

  const held = importer();
  held.discard = async () => undefined;
  said.length = 0;
  t.strictSame(await run(held), { imported: [], whole: [other] });
  t.match(said, [/is damaged/, /a is still damaged: .*restart the host/]);
});
