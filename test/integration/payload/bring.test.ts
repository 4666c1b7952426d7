import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import timers from 'node:timers/promises';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { createLogger } from '../../../lib/base/log/logger.ts';
import { connectHostRuntime } from '../../../lib/clients/cri/runtime.ts';
import { Progress } from '../../../lib/engine/steps/progress.ts';
import { waitForFiles } from '../../../lib/host/watch.ts';
import { bringPayload, payloadIsThere } from '../../../lib/payload/bring.ts';
import { containerdImporter } from '../../../lib/payload/containerd.ts';
import { copyPayloadTo } from '../../../lib/payload/copy.ts';
import { readPayload } from '../../../lib/payload/payload.ts';
import { payloadSize } from '../../../lib/payload/size.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';
import { captureBuiltins } from '../../unit/host/builtins.ts';
import { recordFileOperations } from '../../unit/host/file-operations.ts';
import { host, ID, PIN } from './bringing-host.ts';

const signal = AbortSignal.timeout(120_000);
t.test('images are imported, binaries installed, and all of it synced', async (t) => {
  const { payload, paths, progress, lines, called, socket, asked } = await host(t);
  t.strictSame(await bringPayload(payload, paths, progress), { images: 1, binaries: 2 });
  const ctr = `ctr --address ${socket} --namespace k8s.io images`;
  const stores = ['/var/lib/containerd', '/var/lib/containers'].map(paths.at).join(' ');
  t.strictSame(called(), [
    `${ctr} import ${payload}/images/etcd.tar`,
    `${ctr} label r.test/etcd:1 ${PIN}`,
    `sync --file-system ${paths.binaries} ${stores}`,
  ]);
  t.match(lines.join(''), /import etcd/);
  t.equal(asked.length, 4, 'for the record, before the import, after it, and before it is pinned');
  t.equal(readFileSync(join(paths.binaries, 'kubelet'), 'utf8'), 'kubelet 1');
  t.equal(readFileSync(join(paths.cniBinaries, 'bridge'), 'utf8'), 'bridge 1');
});

t.test('syncing the stores ends with its signal', async (t) => {
  const { folder, payload, paths, program, called } = await host(t);
  program('sync', 'exec sleep 600\n');
  const stop = new AbortController();
  const log = createLogger({ write: () => true });
  const progress = new Progress(stop.signal, performance.now() + 60_000, log, {
    waiting: () => true,
  });
  const bringing = bringPayload(payload, paths, progress).catch(describeError);
  await waitForFiles([join(folder, 'calls')], async () => /^sync/m.test(called().join('\n')), {
    signal,
    deadlineMs: 60_000,
    describe: () => 'a call of sync',
  });
  stop.abort();
  t.match(await bringing, /command "sync .* failed; found stopped/);
});

t.test('a damaged archive is named once the runtime refuses it', async (t) => {
  const { payload, paths, progress, program } = await host(t);
  writeFileSync(join(payload, 'images/etcd.tar'), 'rat');
  program('ctr', 'exit 1\n');
  await t.rejects(bringPayload(payload, paths, progress), /images\/etcd\.tar: expected/);
});

t.test('a payload is present if all images (by digest) and binaries are', async (t) => {
  const { payload, paths, progress, stored } = await host(t);
  const isThere = () => payloadIsThere(payload, paths, signal);
  t.equal(await isThere(), false);
  await bringPayload(payload, paths, progress);
  t.equal(await isThere(), true);
  stored.set('r.test/etcd:1', { id: 'sha256:other', pinned: true });
  t.equal(await isThere(), false, 'another image under the name');
  stored.clear();
  const kubelet = join(paths.binaries, 'kubelet');
  writeFileSync(kubelet, 'kubelet 2');
  t.equal(await isThere(), false, 'another binary');
  rmSync(kubelet);
  t.equal(await isThere(), false, 'no binary');
});

t.test('a binary with another mode, or a pipe in its place, is replaced', async (t) => {
  const { payload, paths, progress } = await host(t);
  await bringPayload(payload, paths, progress);
  const kubelet = join(paths.binaries, 'kubelet');
  await chmod(kubelet, 0o4755);
  await bringPayload(payload, paths, progress);
  t.equal((await stat(kubelet)).mode & 0o7777, 0o755);
  rmSync(kubelet);
  await execa('mkfifo', ['--mode=0755', kubelet]);
  await bringPayload(payload, paths, progress);
  t.equal(readFileSync(kubelet, 'utf8'), 'kubelet 1');
});

t.test('a failure of ctr is temporary and includes the output of ctr', async (t) => {
  const { program, folder, paths } = await host(t);
  using runtime = connectHostRuntime(paths);
  const importer = containerdImporter(runtime, paths.at('/var/lib/containerd'));
  const limits = { signal, deadlineMs: 60_000 };
  program('ctr', 'echo first >&2; echo "ctr: no space left" >&2; exit 1\n');
  t.match(await thrownBy(importer.pin('r', limits)), {
    kind: 'retry',
    message: /images label r .* failed in containerd/,
    details: { found: 'ctr: no space left' },
  });
  program('ctr', 'exit 3\n');
  t.match(await thrownBy(importer.pin('r', limits)), {
    kind: 'retry',
    details: { found: /exit code 3/ },
  });
  program('ctr', 'exec sleep 600\n');
  t.match(await thrownBy(importer.pin('r', { signal, deadlineMs: 300 })), {
    kind: 'retry',
    details: { found: 'not complete after 0.3 s' },
  });
  const stop = new AbortController();
  const stopped = importer.pin('r', { signal: stop.signal, deadlineMs: 600_000 });
  stop.abort(new Error('told to stop'));
  await t.rejects(stopped, /told to stop/);
  const none = containerdImporter(runtime, paths.at('/var/lib/containerd'), join(folder, 'none'));
  t.match(await thrownBy(none.pin('r', limits)), { kind: 'retry', details: { found: /ENOENT/ } });
});

/** Waits until the runtime was asked that often about a reference, or the work has ended; returns whether it has. */
async function hasEnded(work: Promise<unknown>, asked: readonly string[], reference: string) {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  while (!ended && asked.filter((it) => it === reference).length < 3) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return ended;
}

t.test('a name is taken from the image that has it, and awaited', async (t) => {
  const { called, stored, asked, program, socket, paths } = await host(t);
  using runtime = connectHostRuntime(paths);
  const importer = containerdImporter(runtime, paths.at('/var/lib/containerd'));
  t.equal(
    await importer.sandboxImage({ signal, deadlineMs: 60_000 }, () => undefined),
    'k8s/pause',
  );
  stored.set('r.test/pause:1', { id: ID, pinned: true });
  stored.set('k8s/pause', { id: 'sha256:old', pinned: true });
  program('ctr');
  const tagged = importer.tag('r.test/pause:1', 'k8s/pause', { signal, deadlineMs: 60_000 });
  t.notOk(await hasEnded(tagged, asked, 'k8s/pause'), 'the runtime has the old image by that name');
  stored.set('k8s/pause', { id: ID, pinned: false });
  await tagged;
  t.ok(asked.filter((reference) => reference === 'k8s/pause').length < 20, 'and no longer');
  t.strictSame(called(), [
    `ctr --address ${socket} --namespace k8s.io images tag --force r.test/pause:1 k8s/pause`,
  ]);
});

/** Ends delays of that length immediately, and counts them. */
function recordDelays(t: Test, length: number): number[] {
  const delays: number[] = [];
  const { setTimeout: wait } = timers;
  captureBuiltins(t, () => {
    t.capture(timers, 'setTimeout', (ms: number, value: unknown, options: object) => {
      if (ms !== length) return wait(ms, value, options);
      delays.push(ms);
      return wait(0, value, options);
    });
  });
  return delays;
}

t.test('an imported image is awaited, but not forever', async (t) => {
  const { unheard, asked, paths, payload } = await host(t);
  using runtime = connectHostRuntime(paths);
  const importer = containerdImporter(runtime, paths.at('/var/lib/containerd'));
  const limits = { signal, deadlineMs: 60_000 };
  unheard.add('r.test/etcd:1');
  const image = {
    name: 'etcd',
    reference: 'r.test/etcd:1',
    id: ID,
    path: join(payload, 'images/etcd.tar'),
  };
  const imported = importer.importArchive(image, limits);
  t.notOk(await hasEnded(imported, asked, 'r.test/etcd:1'), 'the runtime has not heard of it');
  unheard.clear();
  await imported;
  unheard.add('r.test/etcd:1');
  const delays = recordDelays(t, 100);
  asked.length = 0;
  await importer.importArchive(image, limits);
  t.equal(asked.length, 100);
  t.equal(delays.length, 100, 'ten seconds in all');
  t.equal(await importer.find('r.test/etcd:1', limits), undefined, 'the caller finds out');
});

t.test('binaries are installed while images are imported', async (t) => {
  const { payload, paths, progress, program } = await host(t);
  const kubelet = join(paths.binaries, 'kubelet');
  // Fails unless the kubelet appears meanwhile; "seq" bounds the wait.
  program('ctr', `for _ in $(seq 600); do [ -e ${kubelet} ] && exit 0; sleep 0.05; done; exit 1\n`);
  t.strictSame(await bringPayload(payload, paths, progress), { images: 1, binaries: 2 });
});

t.test('nothing goes on after a failure, and nothing counts as brought', async (t) => {
  const { payload, paths, progress, called, program } = await host(t);
  // The images take longer than the damaged binary.
  program('ctr', 'sleep 0.3\n');
  writeFileSync(join(payload, 'bin/kubelet'), 'kubelet 2');
  const failure = await thrownBy(bringPayload(payload, paths, progress));
  t.match(failure, { code: 'payload-damaged', message: /bin\/kubelet/ });
  t.ok(
    called().some((line) => line.includes('images label')),
    'the import has ended',
  );
  t.notOk(called().some((line) => line.startsWith('sync')));
});

t.test('a copy is complete once it has its description', async (t) => {
  const { folder, payload: directory } = await host(t);
  const payload = await readPayload(directory);
  const target = join(folder, 'copy');
  const files = await recordFileOperations(t, target);
  await copyPayloadTo(payload, target, signal);
  const named = files.seen
    .filter((line) => line.startsWith('rename'))
    .map((line) => line.split(' -> ')[1]);
  t.strictSame(named.toSorted(), ['bin/kubelet', 'cni/bridge', 'images/etcd.tar', 'payload.yaml']);
  t.equal(named.at(-1), 'payload.yaml');
  for (const name of ['images/.etcd.tar.new', 'bin/.kubelet.new', '.payload.yaml.new']) {
    const renamed = files.seen.findIndex((line) => line.startsWith(`rename ${name} `));
    t.ok(files.seen.slice(0, renamed).includes(`sync ${name}`), `${name} is on the disk first`);
  }
  t.equal((await stat(join(target, 'bin/kubelet'))).mode & 0o777, 0o644);
  t.same(await payloadSize(target), { bytes: 3 + 9 + 8, isCompressed: false });
  t.same(await payloadSize(folder), { bytes: 0, isCompressed: false }, 'no payload');

  files.seen.length = 0;
  await copyPayloadTo(payload, target, signal);
  t.strictSame(
    files.seen.filter((line) => line.startsWith('rename')),
    ['rename .payload.yaml.new -> payload.yaml'],
    'what is there is not copied again',
  );
});

t.test('a copy that reads back differently is refused', async (t) => {
  const { folder, payload: directory } = await host(t);
  const payload = await readPayload(directory);
  writeFileSync(join(directory, 'bin/kubelet'), 'kubelet 2');
  const target = join(folder, 'copy');
  await t.rejects(copyPayloadTo(payload, target, signal), /bin\/kubelet: expected/);
  writeFileSync(join(directory, 'bin/kubelet'), 'kubelet 1');
  appendFileSync(join(directory, 'payload.yaml'), '\n# replaced since it was read\n');
  await t.rejects(copyPayloadTo(payload, target, signal), /payload\.yaml: expected/);
  await copyPayloadTo(await readPayload(directory), target, signal);
});

t.test('a failed copy leaves no temporary file', async (t) => {
  const { folder, payload: directory } = await host(t);
  const payload = await readPayload(directory);
  const target = join(folder, 'copy');
  const files = await recordFileOperations(t, target);
  files.failAt(/^sync images\/\.etcd/, new Error('EIO'));
  await t.rejects(copyPayloadTo(payload, target, signal), /EIO/);
  t.strictSame(await readdir(join(target, 'images')), []);
});
