import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createPayload } from '../../../cli/create/payload.ts';
import { readImageArchive } from '../../../lib/payload/image/archive.ts';
import {
  type ArchivedCopy,
  type ImageImporter,
  type ImportedImage,
  importImages,
} from '../../../lib/payload/images.ts';
import { readPayload } from '../../../lib/payload/payload.ts';
import { verifyPayload } from '../../../lib/payload/verify.ts';
import { badPayloads } from '../../unit/cli/bad-payloads.ts';
import {
  createArguments,
  type PayloadSources,
  payloadSources,
} from '../../unit/cli/payload-sources.ts';
import { sno } from '../../unit/cli/run-sno.ts';
import { programBytes } from '../../unit/payload/elf/program.ts';
import { dockerArchive, hex, layerOf, tarOf } from '../../unit/payload/image/archives.ts';

const { signal } = new AbortController();

async function setUp(t: Pick<Test, 'testdir'>): Promise<PayloadSources & { dir: string }> {
  const folder = t.testdir({ out: {}, sources: {} });
  const sources = await payloadSources(join(folder, 'sources'));
  return { ...sources, dir: join(folder, 'out/payload') };
}

/** Each file below a folder, with its contents. */
function contentsOf(dir: string): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(files.map((path) => [path.slice(dir.length), hex(readFileSync(path))]));
}

/** Identifies an image by the contents of its archive, as a runtime does. */
class ArchiveImporter implements ImageImporter {
  readonly stored = new Map<string, ImportedImage>();
  async prepare() {}
  async sandboxImage() {
    return undefined;
  }
  async find(reference: string) {
    return this.stored.get(reference);
  }
  async importArchive({ path }: ArchivedCopy) {
    for (const { references, id } of (await readImageArchive(path, signal)).images) {
      for (const reference of references) this.stored.set(reference, { id, pinned: true });
    }
    return undefined;
  }
  async tag() {}
  async pin() {}
  async damage() {
    return undefined;
  }
  async discard() {}
}

t.test('the agents accept a payload made from every kind of source', async (t) => {
  const { dir, arguments: given } = await setUp(t);
  const umask = process.umask(0o077);
  const { code, out, err } = await sno(createArguments(dir, given));
  process.umask(umask);
  t.match({ code, err }, { code: 0, err: '' });
  t.match(out, /image +etcd .* registry\.k8s\.io\/etcd:3\.6\.8-0\n/);
  t.match(out, /Kubernetes v1\.37\.2, etcd v3\.6\.8, amd64: 9 images, 6 binaries, 0\.1 MB/);
  t.match(out, `SHA-256 of payload.yaml: ${hex(readFileSync(join(dir, 'payload.yaml')))}`);
  t.notMatch(out, 'Notice');
  t.strictSame(readdirSync(join(dir, '..')), ['payload'], 'nothing is left beside it');
  for (const path of ['', 'images', 'bin', 'bin/kubelet', 'cni/bridge']) {
    t.equal(statSync(join(dir, path)).mode & 0o777, 0o755, path);
  }
  for (const path of ['payload.yaml', 'images/etcd.tar', 'images/pause.tar']) {
    t.equal(statSync(join(dir, path)).mode & 0o777, 0o644, path);
  }

  const payload = await readPayload(dir);
  t.match(payload.versions, { kubernetes: 'v1.37.2', etcd: 'v3.6.8' });
  t.strictSame(
    payload.images.map(({ reference }) => reference),
    [
      'registry.k8s.io/coredns/coredns:v1.12.1',
      'registry.k8s.io/etcd:3.6.8-0',
      'docker.io/flannel/flannel:v0.28.10',
      'registry.k8s.io/kube-apiserver:v1.37.2',
      'registry.k8s.io/kube-controller-manager:v1.37.2',
      'registry.k8s.io/kube-proxy:v1.37.2',
      'registry.k8s.io/kube-scheduler:v1.37.2',
      'docker.io/rancher/local-path-provisioner:v0.0.30',
      'registry.k8s.io/pause:3.10',
    ],
  );
  await verifyPayload(payload, signal);
  const silent = { report: () => {}, warn: () => {}, verify: async () => {} };
  const options = { signal, deadlineMs: 1000, ...silent, imported: new Set<string>() };
  t.equal((await importImages(payload, new ArchiveImporter(), options)).imported.length, 9);
  const verified = await sno(['verify', 'payload', dir]);
  t.equal(verified.code, 0);
  t.equal(out, `Wrote ${dir}\n${verified.out}`, 'verify prints the same');
});

t.test('the same sources produce the same bytes, in any order and packing', async (t) => {
  const { dir, arguments: given, write } = await setUp(t);
  const other = `${dir}-2`;
  mkdirSync(other);
  t.equal((await sno(createArguments(dir, given))).code, 0);
  const alone = { references: ['registry.k8s.io/etcd:3.6.8-0'], layer: await layerOf('etcd') };
  const etcd = write('etcd-alone.tar', await tarOf((await dockerArchive([alone])).toReversed()));
  const images = Object.entries({ ...given.images, etcd }).toReversed();
  const shuffled = { ...given, images: Object.fromEntries(images) };
  const again = await sno(createArguments(other, shuffled));
  t.match(again, { code: 0 }, 'an empty folder may be there');
  t.strictSame(contentsOf(other), contentsOf(dir));
});

t.test('existing files are not overwritten', async (t) => {
  const { dir, arguments: given } = await setUp(t);
  await sno(createArguments(dir, given));
  const before = contentsOf(dir);
  t.match(await sno(createArguments(dir, given)), { code: 2, err: /already exists/ });
  t.strictSame(contentsOf(dir), before);
});

for (const [name, change, faults] of badPayloads) {
  t.test(`refused: ${name}`, async (t) => {
    const { dir, arguments: given, ...sources } = await setUp(t);
    await change(given, sources);
    const { code, out, err } = await sno(createArguments(dir, given));
    t.match({ code, out }, { code: 2, out: '' });
    for (const fault of faults) t.match(err, fault);
    t.match(err, 'nothing was written');
    t.strictSame(readdirSync(join(dir, '..')), [], 'nothing is written');
  });
}

t.test('notices that are not errors', async (t) => {
  const { dir, arguments: given, write, folder } = await setUp(t);
  delete given.images.coredns;
  delete given.references.coredns;
  given.images.pause = write('dynamic', programBytes({ isDynamic: true }));
  mkdirSync(join(folder, 'few'));
  write('few/bridge', programBytes({ text: 'bridge' }));
  write('few/LICENSE', 'text');
  given.cni = [join(folder, 'few')];
  const { code, err } = await sno(createArguments(dir, given));
  t.equal(code, 0);
  t.match(err, /Notice: .*dynamic needs shared libraries/);
  t.match(err, /Notice: no network plugin host-local, loopback, portmap:/);
  t.match(err, /Notice: no image coredns: names of Services are not resolved/);
  t.notMatch(err, /no image kube-proxy/);
  t.match(err, /Notice: not programs, left out: .*few\/LICENSE/);
});

t.test('an image gets the given reference, a link is followed to its program', async (t) => {
  const { dir, arguments: given, write, folder } = await setUp(t);
  const archive = await dockerArchive([{ references: null }]);
  given.images.etcd = write('nameless.tar', await tarOf(archive));
  given.references.etcd = 'mirror.example.com:5000/site/etcd:3.6.8-0';
  symlinkSync(given.binaries.kubelet ?? '', join(folder, 'link'));
  chmodSync(given.binaries.kubelet ?? '', 0o600);
  given.binaries.kubelet = join(folder, 'link');
  const { code, err } = await sno(createArguments(dir, given));
  t.match({ code, err }, { code: 0, err: '' });
  const { images } = await readImageArchive(join(dir, 'images/etcd.tar'), signal);
  t.match(images, [{ references: ['mirror.example.com:5000/site/etcd:3.6.8-0'] }]);
  t.ok(statSync(join(dir, 'bin/kubelet')).isFile());
});

t.test('an interrupted run leaves nothing', async (t) => {
  const { dir, arguments: given } = await setUp(t);
  const interruption = new AbortController();
  const named = (values: Record<string, string>) =>
    Object.entries(values).map(([name, value]) => `${name}=${value}`);
  const options = {
    dir,
    image: named(given.images),
    reference: named(given.references),
    binary: named(given.binaries),
    cni: given.cni,
  };
  const parent = join(dir, '..');
  const watcher = setInterval(() => {
    if (readdirSync(parent).length > 0) interruption.abort(new Error('interrupted'));
  }, 1);
  const run = createPayload(options, {
    print: () => {},
    complain: () => {},
    notice: () => {},
    wrote: () => {},
    signal: interruption.signal,
  });
  await t.rejects(run, /interrupted|stopped|abort/i);
  clearInterval(watcher);
  t.strictSame(readdirSync(parent), []);
});
