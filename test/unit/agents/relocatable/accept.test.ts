import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { choicesFor, requirePreparable } from '../../../../agents/reconfigure/prepare/accept.ts';
import type { Cluster } from '../../../../lib/config/cluster/cluster.ts';
import { isInstalled } from '../../../../lib/host/search-path.ts';
import { writeFactoryPolicy } from '../../../../lib/relocation/relocatable/policy.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { input } from '../../render/rendered-host.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHXHt+y5xL6hg/Dj27XI2zxTueZv7aunKpp04a4yIDvC';

/** One whose installation is complete. */
async function installed(
  t: Test,
  cluster: Partial<Cluster> = {},
  options: HostOptions = {},
): Promise<TestHost> {
  const host = testHost(t, options);
  host.write('/var/lib/sno-agents/record.json', '{}');
  host.write('/etc/systemd/system/kubelet.service', 'Environment=KUBELET_NODE_NAME=\n');
  host.write('/etc/sno-agents/kubelet.env', 'KUBELET_NODE_IPS=192.0.2.10\n');
  host.programs.give('nmcli', 'exit 97');
  await saveRenderInput(host.paths, input);
  Object.assign(host.context.cluster, { sshKeys: [KEY] }, cluster);
  return host;
}

t.test('a host that can be made relocatable', async (t) => {
  const host = await installed(t);
  await requirePreparable(host.context);
  t.same(host.programs.calls(), [], 'nothing was called');
});

const refusals: readonly [what: string, change: (host: TestHost) => void, message: RegExp][] = [
  [
    'an installation that has not ended',
    (host) => host.remove('/var/lib/sno-agents/record.json'),
    /the installation is not complete/,
  ],
  [
    'a kubelet of an earlier release',
    (host) => host.write('/etc/systemd/system/kubelet.service', 'ExecStart=kubelet\n'),
    /one of an earlier release.*sno-update run/,
  ],
  [
    'an update that is under way',
    (host) => host.write('/var/lib/sno-agents/sno-update/request.json', '{}'),
    /an update is under way/,
  ],
  [
    'workers',
    (host) =>
      host.write(
        '/var/lib/sno-agents/sno-approve/members/w-1.json',
        JSON.stringify({
          schemaVersion: 1,
          name: 'w-1',
          nodeUid: 'u',
          addresses: ['192.0.2.20'],
          expires: '2099-01-01T00:00:00Z',
        }),
      ),
    /has workers.*found w-1/,
  ],
  [
    'two addresses of one family',
    (host) => host.write('/etc/sno-agents/kubelet.env', 'KUBELET_NODE_IPS=192.0.2.10,192.0.2.11\n'),
    /expected one address, or one of each family/,
  ],
];

t.test('refused: options that are for OpenShift', async (t) => {
  const host = await installed(t);
  for (const asked of [{ acceptUnknownRelease: true }, { allowRestart: true }]) {
    await t.rejects(requirePreparable(host.context, asked), {
      kind: 'usage',
      message: /are for OpenShift; nothing was changed; found a host of Kubernetes/,
    });
  }
});

t.test('refused: a host whose network is not by NetworkManager', async (t) => {
  // The machine of the test may have one; it is asked, since a guarded one would count as installed.
  const host = await installed(t, {}, { programs: 'real' });
  host.programs.remove('nmcli');
  if (await isInstalled('nmcli')) return;
  await t.rejects(requirePreparable(host.context), {
    kind: 'usage',
    message: /no NetworkManager.*expected nmcli in PATH/,
  });
});

for (const [what, change, message] of refusals) {
  t.test(`refused: ${what}`, async (t) => {
    const host = await installed(t);
    change(host);
    await t.rejects(requirePreparable(host.context), { kind: 'usage', message });
    t.notOk(host.has('/etc/sno-agents/factory.json'));
  });
}

t.test('what is asked, else what was decided before, else the usual', async (t) => {
  const host = await installed(t);
  const usual = {
    allowedSigners: host.context.cluster.sshKeys,
    unsignedAllowed: false,
    shippingDays: 30,
  };
  t.strictSame(await choicesFor(host.context, {}), usual);
  const file = join(host.root, 'signers.pub');
  writeFileSync(file, `# ours\n${KEY} somebody\n`);
  const asked = {
    signer: [file],
    allowUnsigned: true,
    siteUrl: 'https://sites.example.test/',
    shippingDays: '60',
  };
  const chosen = {
    allowedSigners: [KEY],
    unsignedAllowed: true,
    shippingDays: 60,
    siteUrl: 'https://sites.example.test/',
  };
  t.strictSame(await choicesFor(host.context, asked), chosen);
  const policy = {
    schemaVersion: 1,
    internalAddress: '192.0.2.10',
    nodeName: 'edge-0',
    ...chosen,
    recipient: 'age1q',
  } as const;
  await writeFactoryPolicy(host.paths, policy);
  t.strictSame(await choicesFor(host.context, {}), chosen, 'repeated without options');
  t.strictSame(await choicesFor(host.context, { allowUnsigned: false, shippingDays: '7' }), {
    ...chosen,
    unsignedAllowed: false,
    shippingDays: 7,
  });
  writeFileSync(file, `${KEY} one\r\n${KEY} another\r\n`);
  for (const [shippingDays, siteUrl] of [
    ['1', 'dhcp'],
    ['3650', 'http://192.0.2.1/sites'],
  ] as const) {
    t.match(await choicesFor(host.context, { signer: [file], shippingDays, siteUrl }), {
      allowedSigners: [KEY, KEY],
      shippingDays: Number(shippingDays),
      siteUrl,
    });
  }
});

t.test('options that cannot be used', async (t) => {
  const host = await installed(t);
  const empty = join(host.root, 'empty.pub');
  writeFileSync(empty, '# nothing\n');
  const bad: readonly [Parameters<typeof choicesFor>[1], RegExp][] = [
    [{ shippingDays: '0' }, /--shipping-days/],
    [{ shippingDays: '3651' }, /--shipping-days/],
    [{ shippingDays: '1.5' }, /--shipping-days/],
    [{ shippingDays: '-1' }, /--shipping-days/],
    [{ siteUrl: 'file:///etc' }, /--site-url/],
    [{ siteUrl: 'sites' }, /--site-url.*an http or https URL, or dhcp/],
    [{ signer: [empty] }, /has no public key/],
    [{ signer: [join(host.root, 'none')] }, /cannot be read/],
  ];
  for (const [asked, message] of bad) {
    await t.rejects(choicesFor(host.context, asked), { kind: 'usage', message });
  }
});
