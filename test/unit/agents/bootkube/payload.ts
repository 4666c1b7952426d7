import t from 'tap';
import { payload } from '../../../../agents/steps/payload.ts';
import { payloadFolder } from '../../../../agents/steps/payload-folder.ts';
import { openSite } from '../../payload/site.ts';
import { testHost } from '../host/host.ts';
import { importingRuntime, writePayload } from '../host/payload.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { liveHost } from '../live-host.ts';

t.test('the payload is on the medium, or where it is fetched to', async (t) => {
  const { context, paths } = liveHost(t.testdir());
  t.equal(payloadFolder(context), `${paths.medium}/payload`);
  const cluster = { ...context.cluster, payloadUrl: 'https://h/payload' };
  t.equal(payloadFolder({ ...context, cluster }), paths.payload);
});

t.test('what is still to be fetched is not an error, but what is not pinned is', async (t) => {
  const host = liveHost(t.testdir());
  const { url, close } = await openSite({});
  t.teardown(close);
  const { payloadSha256: _, ...unpinned } = host.context.cluster;
  const served = { ...host.context, cluster: { ...unpinned, payloadUrl: url } };
  t.equal(await payload.holds(served, host.progress()), false);
  await t.rejects(payload.run(served, host.progress()), {
    kind: 'usage',
    message: /a payload URL without the digest/,
  });
  const pinned = { ...served, cluster: { ...served.cluster, payloadSha256: 'a'.repeat(64) } };
  await t.rejects(payload.run(pinned, host.progress()), {
    kind: 'fatal',
    message: /payload\.yaml cannot be fetched.*404/,
  });
});

t.test('payload', async (t) => {
  const KUBELET = '/var/lib/sno-agents/bin/kubelet';
  const MEDIUM = '/run/media/iso/sno-agents/payload';

  t.test('of the medium is imported and installed', async (t) => {
    const host = testHost(t);
    writePayload(host, MEDIUM);
    await fakeRuntime(t, host, () => [], importingRuntime(host));
    t.equal(await host.holds(payload), false, 'before');
    t.same(await host.run(payload), { kind: 'done', note: '1 images, 1 binaries' });
    t.equal(host.read(KUBELET), 'a kubelet');
    t.equal(await host.holds(payload), true, 'after');
    host.remove(KUBELET);
    t.equal(await host.holds(payload), false, 'a binary that was deleted');
    t.same(await host.run(payload), { kind: 'done', note: '1 images, 1 binaries' }, 'again');
  });

  t.test('is that for which the Ignition was made, where it says so', async (t) => {
    const host = testHost(t, { cluster: { payloadSha256: 'b'.repeat(64) } });
    writePayload(host, MEDIUM);
    t.match(await host.failureOf(payload), { kind: 'fatal', message: /expected SHA-256 bbbb/ });
    t.notOk(host.has(KUBELET));
    const pinned = testHost(t, { cluster: { payloadSha256: writePayload(host, MEDIUM) } });
    writePayload(pinned, MEDIUM);
    await fakeRuntime(t, pinned, () => [], importingRuntime(pinned));
    t.match(await pinned.run(payload), { kind: 'done' });
    t.notSame(await payload.input(pinned.context), await payload.input(host.context));
  });
});
