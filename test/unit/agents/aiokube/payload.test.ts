import t, { type Test } from 'tap';
import type { HostContext } from '../../../../agents/steps/host-context.ts';
import { payload } from '../../../../agents/steps/payload.ts';
import { payloadFolder } from '../../../../agents/steps/payload-folder.ts';
import { compressPayloadIn } from '../../payload/compressed.ts';
import { testHost } from '../host/host.ts';
import { importingRuntime, writePayload } from '../host/payload.ts';
import { fakeRuntime } from '../host/runtime.ts';

const MEDIUM = '/run/media/iso/sno-agents/payload';
const KEPT = '/var/lib/sno-agents/payload';

/** A host that writes no disk, with a payload on its second medium. */
async function host(t: Test, pinned?: string) {
  const it = testHost(t);
  const payloadSha256 = writePayload(it, MEDIUM);
  await fakeRuntime(t, it, () => [], importingRuntime(it));
  const { installation: _, ...cluster } = it.context.cluster;
  const context: HostContext = {
    ...it.context,
    cluster: { ...cluster, payloadSha256: pinned ?? payloadSha256 },
  };
  const run = () => payload.run(context, it.progress());
  const holds = () => payload.holds(context, it.progress());
  return { it, context, run, holds };
}

t.test('the payload on a second medium', async (t) => {
  t.test('is copied to the host, which keeps it', async (t) => {
    const { it, context, run, holds } = await host(t);
    t.equal(payloadFolder(context), it.at(KEPT));
    t.equal(await holds(), false, 'before');
    t.same(await run(), { kind: 'done', note: '1 images, 1 binaries' });
    for (const path of ['payload.yaml', 'images/etcd.tar', 'bin/kubelet']) {
      t.equal(it.read(`${KEPT}/${path}`), it.read(`${MEDIUM}/${path}`), path);
    }
    t.equal(it.read('/var/lib/sno-agents/bin/kubelet'), 'a kubelet');
    t.equal(await holds(), true, 'after');
  });

  t.test('may be disconnected once it is copied', async (t) => {
    const { it, run, holds } = await host(t);
    await run();
    it.remove(MEDIUM);
    t.equal(await holds(), true);
    it.remove('/var/lib/sno-agents/bin/kubelet');
    t.equal(await holds(), false);
    t.match(await run(), { kind: 'done' }, 'from the copy');
  });

  t.test('an interrupted copy is completed', async (t) => {
    const { it, run, holds } = await host(t);
    it.write(`${KEPT}/images/etcd.tar`, 'half');
    t.equal(await holds(), false);
    t.match(await run(), { kind: 'done' });
    t.equal(it.read(`${KEPT}/images/etcd.tar`), 'an image');
  });

  t.test('is decompressed while it is copied', async (t) => {
    const { it, context } = await host(t);
    const payloadSha256 = compressPayloadIn(it.at(MEDIUM));
    const pinned = { ...context, cluster: { ...context.cluster, payloadSha256 } };
    t.match(await payload.run(pinned, it.progress()), { kind: 'done' });
    t.equal(it.read(`${KEPT}/images/etcd.tar`), 'an image');
    it.remove(MEDIUM);
    t.equal(await payload.holds(pinned, it.progress()), true);
  });

  t.test('another payload is refused before it is copied', async (t) => {
    const { it, run } = await host(t, 'b'.repeat(64));
    await t.rejects(run(), { kind: 'fatal', code: 'payload-mismatch' });
    t.notOk(it.has(KEPT));
  });

  t.test('a medium that is not connected is waited for', async (t) => {
    const { it, run } = await host(t);
    it.remove(MEDIUM);
    await t.rejects(run(), { kind: 'retry', message: /--medium-iso/ });
  });
});
