import t from 'tap';
import {
  judgePluginFolders,
  networkPluginsCheck,
} from '../../../../agents/steps/preflight/network-plugins.ts';
import { testHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { inputFor, NETWORKS } from './check-input.ts';

const all = ['bridge', 'host-local', 'loopback', 'portmap'];

t.test('network-plugins', async (t) => {
  t.test('the folder of the payload, or complete ones of the system', async (t) => {
    const rows: [folders: string[], own: string[], ok: boolean][] = [
      [['/opt/cni/bin'], [], true],
      [['/usr/libexec/cni', '/opt/cni/bin/'], [], true],
      [['/usr/libexec/cni/'], all, true],
      [['/usr/libexec/cni'], all.slice(1), false],
      [['/opt/cni'], [], false],
    ];
    for (const [folders, own, ok] of rows) {
      const found = judgePluginFolders(folders, new Set(own), '/opt/cni/bin');
      t.equal(found.ok, ok, `${folders} with ${own}`);
    }
    t.match(judgePluginFolders(['/a'], new Set(all.slice(1)), '/opt/cni/bin'), {
      problem: /looks for network plugins in \/a, where bridge are missing/,
      fix: /Add \/opt\/cni\/bin to its configuration/,
    });
  });

  t.test('as the runtime of the host says', async (t) => {
    const host = testHost(t);
    const input = { ...inputFor(t, [], NETWORKS), ...host.context, hostname: 'sno' };
    const config = JSON.stringify({ cni: { binDir: '/usr/libexec/cni' } });
    t.match(await networkPluginsCheck.run(input), { ok: true, fact: /no container runtime runs/ });
    await fakeRuntime(t, host, () => [], {
      Status: () => ({ status: {}, info: { config } }),
      RuntimeConfig: () => ({ linux: { cgroupDriver: 'SYSTEMD' } }),
    });
    t.match(await networkPluginsCheck.run(input), { ok: false, problem: /\/usr\/libexec\/cni/ });
    for (const name of all) host.write(`/usr/libexec/cni/${name}`, '');
    t.match(await networkPluginsCheck.run(input), { ok: true, fact: /the operating system has/ });
  });
});
