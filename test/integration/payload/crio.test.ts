import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { connectHostRuntime } from '../../../lib/clients/cri/runtime.ts';
import { bringPayload, payloadIsThere } from '../../../lib/payload/bring.ts';
import { crioImporter } from '../../../lib/payload/crio.ts';
import { endPauses } from '../../unit/agents/host/timers.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';
import { host, ID } from './bringing-host.ts';

const signal = AbortSignal.timeout(120_000);
const CONFIGURATION = '/etc/crio/crio.conf.d/60-sno-agents.conf';
const limits = { signal, deadlineMs: 60_000 };

t.test(
  'podman loads the images outside the sandbox, and the configuration pins them',
  async (t) => {
    const { payload, paths, progress, called, stored, program, folder } = await host(t, 'cri-o');
    // podman ends when the runtime has the image.
    const loadedMark = join(folder, 'loaded');
    program('systemd-run', `until [ -e ${loadedMark} ]; do sleep 0.05; done\n`);
    // As CRI-O answers: without the algorithm.
    stored.set('r.test/etcd:1', { id: 'd'.repeat(64), pinned: true });
    const bringing = bringPayload(payload, paths, progress);
    const loaded = async () => {
      while (!called().some((line) => line.includes('podman load'))) {
        await sleep(10, undefined, { signal });
      }
    };
    // A failure before that is thrown below.
    await Promise.race([loaded(), bringing.catch(() => undefined)]);
    stored.set('r.test/etcd:1', { id: ID.replace('sha256:', ''), pinned: true });
    writeFileSync(loadedMark, '');
    t.strictSame(await bringing, { images: 1, binaries: 2 });
    t.equal(called()[0], 'systemctl reload crio.service', 'configured first');
    t.match(called()[1], /^systemd-run .* -- podman load --quiet --input .*images\/etcd\.tar$/);
    t.equal(
      readFileSync(paths.at(CONFIGURATION), 'utf8'),
      '[crio.image]\npinned_images = ["r.test/etcd:1"]\n',
    );
    t.equal(await payloadIsThere(payload, paths, signal), true);
  },
);

t.test('CRI-O is not reloaded for the configuration that it has', async (t) => {
  const { paths, called } = await host(t, 'cri-o');
  using runtime = connectHostRuntime(paths);
  const importer = crioImporter(runtime, paths);
  const payload = {
    images: [
      { name: 'etcd', reference: 'r.test/etcd:1' },
      { name: 'pause', reference: 'r.test/pause:3.10' },
    ],
  };
  await importer.prepare(payload, limits);
  await importer.prepare(payload, limits);
  t.strictSame(called(), ['systemctl reload crio.service']);
  t.match(readFileSync(paths.at(CONFIGURATION), 'utf8'), 'pause_image = "r.test/pause:3.10"\n');
  t.equal(
    await importer.sandboxImage(limits, () => undefined),
    undefined,
    'configured, so that it needs no name',
  );
});

t.test('an image that CRI-O does not pin is an error', async (t) => {
  const { paths, stored } = await host(t, 'cri-o');
  endPauses(t, 1000);
  stored.set('r', { id: ID, pinned: false });
  using runtime = connectHostRuntime(paths);
  t.match(await thrownBy(crioImporter(runtime, paths).pin('r', limits)), {
    kind: 'retry',
    message: 'CRI-O does not pin r',
  });
});

t.test('CRI-O is reloaded again if an earlier attempt ended before its reload', async (t) => {
  const { paths, stored, called } = await host(t, 'cri-o');
  endPauses(t, 1000);
  stored.set('r.test/etcd:1', { id: ID, pinned: false });
  using runtime = connectHostRuntime(paths);
  const pinning = crioImporter(runtime, paths).pin('r.test/etcd:1', limits);
  pinning.catch(() => undefined);
  while (called().every((line) => line === '')) {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
  }
  stored.set('r.test/etcd:1', { id: ID, pinned: true });
  await pinning;
  t.strictSame(called(), ['systemctl reload crio.service']);
});

t.test('CRI-O is preferred to containerd', async (t) => {
  const { paths } = await host(t, 'cri-o');
  using runtime = connectHostRuntime(paths);
  t.equal(runtime.kind, 'cri-o');
  using other = connectHostRuntime({ runtimeSockets: [paths.runtimeSockets[0], '/nowhere'] });
  t.equal(other.kind, 'containerd', 'also if none runs');
});
