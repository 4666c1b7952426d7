/** `reconfigure prepare` of the Kubernetes payload, as a command, and its way back. */
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runPrepare } from '../../../../agents/reconfigure/prepare/main.ts';
import { lockAgent } from '../../../../lib/engine/steps/lock.ts';
import { readFactoryPolicy } from '../../../../lib/relocation/relocatable/policy.ts';
import { fakeApi } from '../host/api.ts';
import type { TestHost } from '../host/host.ts';
import { factoryHost, INTERNAL } from '../reconfigure/site-host.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHXHt+y5xL6hg/Dj27XI2zxTueZv7aunKpp04a4yIDvC';
const POLICY = '/etc/sno-agents/factory.json';
const PROFILE = '/etc/NetworkManager/system-connections/br-node.nmconnection';
const RULE = '/etc/udev/rules.d/70-sno-site-volume.rules';
const ENVIRONMENT = '/etc/sno-agents/kubelet.env';

/** An installed host that nobody has made relocatable. */
async function installedHost(t: Test): Promise<TestHost> {
  const host = await factoryHost(t);
  for (const path of [POLICY, PROFILE, '/etc/sno-agents/sealed']) host.remove(path);
  host.write(ENVIRONMENT, `KUBELET_NODE_IPS=${INTERNAL}\n`);
  host.write('/var/lib/sno-agents/record.json', '{}');
  host.write('/etc/systemd/system/kubelet.service', 'Environment=KUBELET_NODE_NAME=\n');
  const address = (ifname: string, local: string, prefixlen: number) =>
    JSON.stringify({ ifname, addr_info: [{ local, prefixlen, scope: 'global' }] });
  host.programs.give(
    'ip',
    `[ -f "$ROOT/bridge" ] && bridge=',${address('br-node', INTERNAL, 32)}'
echo '[${address('eth0', INTERNAL, 24)}'"$bridge"']'`,
  );
  host.programs.give(
    'nmcli',
    `case "$*" in *"connection up br-node") touch "$ROOT/bridge" ;; "connection delete br-node") rm -f "$ROOT/bridge" ;; esac`,
  );
  host.programs.give('udevadm', '[ "$*" = "control --reload" ]');
  await fakeApi(t, host, {});
  return host;
}

async function prepare(host: TestHost, ...args: string[]) {
  const lines: string[] = [];
  const code = await runPrepare(host.paths, args, { write: (line) => void lines.push(line) });
  return { code, text: lines.join('') };
}

t.test('prepared with what the factory decides, again, and taken back', async (t) => {
  const host = await installedHost(t);
  const keys = ['one', 'two'].map((name) => join(host.root, `${name}.pub`));
  for (const path of keys) writeFileSync(path, `${KEY} ${path}\n`);
  const signers = keys.flatMap((path) => ['--signer', path]);
  const chosen = ['--allow-unsigned', '--shipping-days', '60', '--site-url', 'https://s.test/'];
  t.match(await prepare(host, ...signers, ...chosen), { code: 0 });
  t.match(await readFactoryPolicy(host.paths), {
    internalAddress: INTERNAL,
    nodeName: hostname(),
    allowedSigners: [KEY, KEY],
    unsignedAllowed: true,
    shippingDays: 60,
    siteUrl: 'https://s.test/',
  });
  t.match(host.read(ENVIRONMENT), `KUBELET_NODE_NAME=${hostname()}\n`);
  for (const path of [PROFILE, RULE]) t.ok(host.has(path), path);
  t.match(
    host.read(RULE),
    /^ACTION=="add", SUBSYSTEMS=="usb", .*RUN\+="\S+systemctl start --no-block reconfigure\.service"$/m,
  );

  t.match(await prepare(host, '--no-allow-unsigned'), { code: 0 }, 'again');
  t.match(await readFactoryPolicy(host.paths), { unsignedAllowed: false, shippingDays: 60 });

  t.match(await prepare(host, '--undo'), { code: 0 });
  t.equal(host.read(ENVIRONMENT), `KUBELET_NODE_IPS=${INTERNAL}\n`);
  for (const path of [POLICY, PROFILE, RULE]) t.notOk(host.has(path), path);
});

t.test('refused before anything is changed', async (t) => {
  const host = await installedHost(t);
  t.match(await prepare(host, '--allow-unsigned', '--shipping-days', '0'), { code: 2 });
  host.remove('/var/lib/sno-agents/record.json');
  t.match(await prepare(host), { code: 2 });
  for (const path of [POLICY, PROFILE, RULE]) t.notOk(host.has(path), path);
});

t.test('refused while the same is taken back, and nothing is changed', async (t) => {
  const host = await installedHost(t);
  using _lock = await lockAgent('reconfigure-prepare-undo', host.root);
  const { code, text } = await prepare(host, '--allow-unsigned');
  t.not(code, 0);
  t.match(text, /reconfigure-prepare-undo is running/);
  for (const path of [POLICY, PROFILE, RULE]) t.notOk(host.has(path), path);
});
