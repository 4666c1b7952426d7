import { readdirSync, symlinkSync } from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { render } from '../../../../agents/steps/render.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { aioHost, installedHost, liveHost } from '../../../../lib/render/hosts.ts';
import { readRenderInput } from '../../../../lib/render/render-input.ts';
import type { Rendered, Renderer } from '../../../../lib/render/renderer.ts';
import { loadIdentity, loadRendered } from '../../../../lib/render/store.ts';
import { type HostOptions, testHost } from '../../../unit/agents/host/host.ts';
import { giveAddresses } from '../../../unit/agents/host/network.ts';
import { writePayload } from '../../../unit/agents/host/payload.ts';
import { rendered } from '../../../unit/agents/host/rendered.ts';
import { fakeRuntime } from '../../../unit/agents/host/runtime.ts';

const STORE = '/opt/openshift/rendered.json';
const KUBELET = '/etc/kubernetes/kubelet.yaml';
const DUAL_STACK = { machineNetwork: ['192.0.2.0/24', '2001:db8::/64'] };
const step = render(liveHost, installedHost);

const { renderer } = accessTo('kubernetes');
/** Arguments of the renderer. */
type Asked = Parameters<Renderer['render']>;

/**
 * A live host with the files from its Ignition, a payload and a runtime, and a renderer that
 * records its arguments.
 */
async function host(t: Test, options: HostOptions = {}) {
  const it = testHost(t, options);
  for (const name of ['kube-apiserver-serving-ca', 'admin-ca']) {
    it.write(`/opt/openshift/tls/${name}.crt`, `certificate of ${name}`);
    it.write(`/opt/openshift/tls/${name}.key`, `key of ${name}`, 0o600);
  }
  writePayload(it, '/run/media/iso/sno-agents/payload');
  giveAddresses(it, '198.51.100.7/24', '192.0.2.10/24', '2001:db8::10/64');
  await fakeRuntime(t, it, () => [], {
    Status: () => ({ status: { conditions: [] }, info: {} }),
    RuntimeConfig: () => ({ linux: { cgroupDriver: 'CGROUPFS' } }),
  });
  const asked: Asked[] = [];
  t.capture(renderer, 'render', async (...args: Asked): Promise<Rendered> => {
    asked.push(args);
    return rendered;
  });
  return { it, asked };
}

/** Gives the root file system this type, with the magic number of linux/magic.h. */
function rootIs(t: Test, type: 'overlay' | 'xfs'): void {
  t.teardown(() => syncBuiltinESMExports());
  t.capture(fsp, 'statfs', async () => ({ type: type === 'overlay' ? 0x794c7630 : 0x58465342 }));
  syncBuiltinESMExports();
}

t.test('render', async (t) => {
  t.test('leaves the rendered data, and the files of this host in place', async (t) => {
    const { it } = await host(t);
    t.equal(await it.holds(step), false, 'before');
    t.same(await it.run(step), { kind: 'done', note: '2 files, 0 manifests' });
    t.equal(await it.holds(step), true, 'after');
    t.equal(it.mode(STORE), 0o600, 'it has every key');
    t.same(await loadRendered(it.paths), rendered);
    t.same(await loadIdentity(it.paths), { hostname: 'edge-0', nodeIps: ['192.0.2.10'] });
    t.equal(it.read(KUBELET), 'kubelet');
    t.notOk(it.has('/etc/kubernetes/other.yaml'), 'which another host needs');
    it.remove(KUBELET);
    t.equal(await it.holds(step), false, 'a file that was deleted');
  });

  t.test('writes no key of the bootstrap where nothing needs it', async (t) => {
    const { it } = await host(t);
    const key = { path: '/etc/sno-agents/bootstrap-admin.key', mode: 0o600, contents: 'a key' };
    const files = [...rendered.files, { ...key, uses: ['bootstrap'] as const }];
    t.capture(renderer, 'render', async () => ({ ...rendered, files }));
    await it.run(render(aioHost));
    t.notMatch(it.read(STORE), /bootstrap-admin/);
    t.notOk(it.has(key.path));
    t.equal(it.read('/etc/kubernetes/other.yaml'), 'other', 'what the node needs');
  });

  t.test('keeps what it rendered from, without keys', async (t) => {
    const { it, asked } = await host(t);
    t.equal(await readRenderInput(it.paths), undefined, 'before');
    await it.run(step);
    const { authorities: _, ...input } = asked[0]?.[0] ?? {};
    t.strictSame(await readRenderInput(it.paths), input);
    t.equal(it.mode('/etc/sno-agents/render-input.json'), 0o600);
    t.notMatch(it.read('/etc/sno-agents/render-input.json'), /key of/);
    const stored = JSON.parse(it.read('/etc/sno-agents/render-input.json'));
    t.match(asked[0]?.[0].host, { cgroupVersion: stored.host.cgroupVersion });
    delete stored.host.cgroupVersion;
    it.write('/etc/sno-agents/render-input.json', JSON.stringify(stored));
    t.strictSame(await readRenderInput(it.paths), input, 'that of an earlier release');
    it.write('/etc/sno-agents/render-input.json', '{"schemaVersion":0}');
    await t.rejects(readRenderInput(it.paths), { kind: 'fatal', message: /render-input\.json/ });
  });

  t.test('requests the control plane of this host', async (t) => {
    const { it, asked } = await host(t, { cluster: DUAL_STACK, hostname: 'edge-7' });
    const till = '{"apiVersion":"e.com/v1","kind":"Till","metadata":{"name":"a"}}';
    it.write('/etc/sno-agents/deferred/0001.till.a.json', till);
    rootIs(t, 'overlay');
    await it.run(step);
    const [[input] = []] = asked;
    const pair = (name: string) => ({
      certificate: `certificate of ${name}`,
      key: `key of ${name}`,
    });
    t.strictSame(input, {
      cluster: it.context.cluster,
      host: {
        hostname: 'edge-7',
        nodeIps: ['192.0.2.10', '2001:db8::10'],
        cgroupDriver: 'cgroupfs',
        cgroupVersion: 1,
        containerRuntime: 'containerd',
        rootIsOverlay: true,
        resolvConf: '/etc/resolv.conf',
        images: { etcd: 'registry.k8s.io/etcd:3.6.8-0' },
        versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
      },
      authorities: {
        servingCa: pair('kube-apiserver-serving-ca'),
        // An earlier release left its key there.
        adminCa: { certificate: 'certificate of admin-ca' },
      },
      deferredGroups: ['e.com'],
    });
  });

  t.test('a root that is not an overlay', async (t) => {
    const { it, asked } = await host(t);
    rootIs(t, 'xfs');
    await it.run(step);
    t.equal(asked[0]?.[0].host.rootIsOverlay, false);
  });

  t.test("systemd-resolved's servers, not its stub on loopback", async (t) => {
    for (const [target, expected] of [
      ['../run/systemd/resolve/stub-resolv.conf', '/run/systemd/resolve/resolv.conf'],
      ['../run/NetworkManager/resolv.conf', '/etc/resolv.conf'],
    ] as const) {
      const { it, asked } = await host(t);
      it.write('/etc/hosts');
      symlinkSync(target, join(it.root, 'etc/resolv.conf'));
      rootIs(t, 'xfs');
      await it.run(step);
      t.equal(asked[0]?.[0].host.resolvConf, expected);
    }
  });

  t.test('a renderer gets a folder, a way to report progress, and a stop signal', async (t) => {
    const { it } = await host(t);
    const stop = new AbortController();
    const seen: object[] = [];
    t.capture(renderer, 'render', async (...[, { report, work, signal }]: Asked) => {
      seen.push({
        mode: it.mode(work),
        files: readdirSync(work),
        isBelow: work.startsWith(it.root),
      });
      it.write(`${work}/key.pem`);
      report('an image to be pulled');
      stop.abort(new Error('told to stop'));
      signal.throwIfAborted();
    });
    it.write('/opt/openshift/render/of-an-attempt-that-was-killed');
    await t.rejects(step.run(it.context, it.progress(stop.signal)), /told to stop/);
    t.same(seen, [{ mode: 0o700, files: [], isBelow: true }]);
    t.match(it.lines.join(''), /Waiting for an image to be pulled/);
    t.notOk(it.has('/opt/openshift/render'), 'nothing of it is left');
    t.notOk(it.has(STORE));
  });

  t.test('keys are generated once per cluster', async (t) => {
    const { it, asked } = await host(t);
    await it.run(step);
    it.remove(KUBELET);
    await it.run(step);
    t.equal(asked.length, 1);
    t.equal(it.read(KUBELET), 'kubelet', 'its file is placed again');
    const another = { ...it.context, cluster: { ...it.context.cluster, name: 'another' } };
    t.equal(await step.holds(another, it.progress()), false);
    await step.run(another, it.progress());
    t.equal(asked.length, 2);
  });

  const missing: [title: string, addresses: string[], found: string][] = [
    ['none at all', [], 'no address'],
    ['one of one family', ['192.0.2.10/24'], '192.0.2.10'],
    ['those of other networks', ['192.0.2.10/24', '2001:db9::1/64'], '192.0.2.10, 2001:db9::1'],
  ];
  for (const [title, addresses, found] of missing) {
    t.test(`waits for the addresses: ${title}`, async (t) => {
      const { it, asked } = await host(t, { cluster: DUAL_STACK });
      giveAddresses(it, ...addresses);
      t.same(await it.failureOf(step), {
        kind: 'retry',
        code: 'address-missing',
        message: `the host lacks an address in the machine networks; expected one of each family in 192.0.2.0/24, 2001:db8::/64; found ${found}`,
      });
      t.same(asked, []);
    });
  }
});
