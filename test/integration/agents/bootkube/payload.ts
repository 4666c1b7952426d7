import t, { type Test } from 'tap';
import { payload } from '../../../../agents/steps/payload.ts';
import { payloadFolder } from '../../../../agents/steps/payload-folder.ts';
import { type HostOptions, testHost } from '../../../unit/agents/host/host.ts';
import { importingRuntime, writePayload } from '../../../unit/agents/host/payload.ts';
import { fakeRuntime } from '../../../unit/agents/host/runtime.ts';
import { compressPayloadIn } from '../../../unit/payload/compressed.ts';

const KUBELET = '/var/lib/sno-agents/bin/kubelet';
const MEDIUM = '/run/media/iso/sno-agents/payload';
const FETCHED = '/var/lib/sno-agents/payload';
const payloadUrl = 'https://site.test/payload';

/** The digest of the payload that is compressed on the media of this test. */
function writePinned(t: Test): string {
  const host = testHost(t);
  writePayload(host, MEDIUM);
  return compressPayloadIn(host.at(MEDIUM));
}

t.test('payload', async (t) => {
  t.test('on the medium is imported and installed', async (t) => {
    const host = testHost(t);
    writePayload(host, MEDIUM);
    await fakeRuntime(t, host, () => [], importingRuntime(host));
    t.equal(await host.holds(payload), false, 'before');
    t.same(await host.run(payload), { kind: 'done', note: '1 images, 1 binaries' });
    t.equal(host.read(KUBELET), 'a kubelet');
    t.equal(await host.holds(payload), true, 'after');
    t.match(host.lines.join(''), /Waiting for the payload to be verified and imported/);
    host.remove(KUBELET);
    t.equal(await host.holds(payload), false, 'a binary that was deleted');
    t.same(await host.run(payload), { kind: 'done', note: '1 images, 1 binaries' }, 'again');
    t.same(host.programs.calls('curl'), [], 'nothing is fetched');
  });

  t.test('compressed on the medium is decompressed once', async (t) => {
    const payloadSha256 = writePinned(t);
    const host = testHost(t, { cluster: { payloadSha256 } });
    writePayload(host, MEDIUM);
    compressPayloadIn(host.at(MEDIUM));
    await fakeRuntime(t, host, () => [], importingRuntime(host));
    t.equal(await host.holds(payload), false, 'before');
    t.same(await host.run(payload), { kind: 'done', note: '1 images, 1 binaries' });
    t.equal(host.read(KUBELET), 'a kubelet');
    t.equal(host.read(`${FETCHED}/images/etcd.tar`), 'an image');
    t.equal(await host.holds(payload), true, 'after');
    host.remove(`${MEDIUM}/images`);
    host.remove(KUBELET);
    t.match(await host.run(payload), { kind: 'done' }, 'again: its files are not read');
    t.equal(host.read(KUBELET), 'a kubelet');
  });

  t.test('compressed on the medium, and not the one pinned, is not decompressed', async (t) => {
    const host = testHost(t, { cluster: { payloadSha256: 'b'.repeat(64) } });
    writePayload(host, MEDIUM);
    compressPayloadIn(host.at(MEDIUM));
    t.match(await host.failureOf(payload), { kind: 'fatal', code: 'payload-mismatch' });
    t.notOk(host.has(FETCHED));
  });

  t.test('must be the one pinned by the Ignition, if any', async (t) => {
    const host = testHost(t, { cluster: { payloadSha256: 'b'.repeat(64) } });
    const digest = writePayload(host, MEDIUM);
    t.match(await host.failureOf(payload), {
      kind: 'fatal',
      code: 'payload-mismatch',
      message: new RegExp(`expected SHA-256 bbbb.*found ${digest}`),
    });
    t.notOk(host.has(KUBELET));
    const pinned = testHost(t, { cluster: { payloadSha256: digest } });
    writePayload(pinned, MEDIUM);
    await fakeRuntime(t, pinned, () => [], importingRuntime(pinned));
    t.match(await pinned.run(payload), { kind: 'done' });
  });
});

t.test('a payload that is served', async (t) => {
  /** A host whose curl knows one site: the files below /served. */
  const host = async (t: Parameters<typeof testHost>[0], cluster: HostOptions['cluster'] = {}) => {
    const it = testHost(t, { cluster: { payloadUrl, ...cluster } });
    await fakeRuntime(t, it, () => [], importingRuntime(it));
    // Its file size limit would also apply to files that the test writes.
    it.programs.give('prlimit', 'shift 2; exec "$@"');
    it.programs.give(
      'curl',
      `while [ $# -gt 0 ]; do
        case "$1" in --output) to="$2" ;; --url) url="$2" ;; esac
        shift
      done
      echo "through \${http_proxy:-none}" >> "$ROOT/proxies"
      cp "$ROOT/served/\${url#${payloadUrl}/}" "$to" || { printf 404; exit 22; }`,
    );
    return it;
  };

  t.test('is downloaded once, through the proxy, and installed', async (t) => {
    const proxy = { httpProxy: 'http://proxy.test:3128', noProxy: [] };
    const payloadSha256 = writePayload(testHost(t), '/served');
    const it = await host(t, { payloadSha256, proxy });
    writePayload(it, '/served');
    t.equal(payloadFolder(it.context), it.at(FETCHED));
    t.equal(await it.holds(payload), false, 'before');
    t.same(await it.run(payload), { kind: 'done', note: '1 images, 1 binaries' });
    t.equal(it.read(KUBELET), 'a kubelet');
    t.ok(it.has(`${FETCHED}/payload.yaml`));
    t.equal(await it.holds(payload), true, 'after');
    t.match(it.lines.join(''), /Waiting for the payload from https:\/\/site\.test\/payload/);
    t.same(
      new Set(it.read('/proxies').trim().split('\n')),
      new Set(['through http://proxy.test:3128']),
    );
    it.programs.forgetCalls();
    await it.run(payload);
    t.same(it.programs.calls('curl'), [], 'again: nothing is fetched');
    it.remove(KUBELET);
    t.equal(await it.holds(payload), false, 'a binary that was deleted');
  });

  t.test('without a proxy is downloaded directly', async (t) => {
    const it = await host(t, { payloadSha256: writePayload(testHost(t), '/served') });
    writePayload(it, '/served');
    t.match(await it.run(payload), { kind: 'done' });
    t.same(new Set(it.read('/proxies').trim().split('\n')), new Set(['through none']));
  });

  t.test('without a digest is refused', async (t) => {
    const it = await host(t);
    t.match(await it.failureOf(payload), {
      kind: 'usage',
      message:
        /a payload URL without the digest.*expected payloadSha256.*Create the Ignition config/,
    });
    t.same(it.programs.calls('curl'), []);
  });

  t.test('that is not served fails permanently', async (t) => {
    const it = await host(t, { payloadSha256: 'a'.repeat(64) });
    t.match(await it.failureOf(payload), {
      kind: 'fatal',
      message: /payload\.yaml cannot be downloaded; expected status 200/,
    });
  });
});
