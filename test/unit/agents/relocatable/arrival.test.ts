/** What a site would refuse, whatever is on its volume, the factory refuses as well. */

import { generateIdentity, identityToRecipient } from 'age-encryption';
import t from 'tap';
import { arrivalFaults, arrivalNotes } from '../../../../agents/reconfigure/arrival-faults.ts';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import { knownNode } from '../../../../agents/reconfigure/known-node.ts';
import { choicesFor, requirePreparable } from '../../../../agents/reconfigure/prepare/accept.ts';
import { isInstalled } from '../../../../lib/host/search-path.ts';
import {
  ageIdentityPath,
  readFactoryPolicy,
} from '../../../../lib/relocation/relocatable/policy.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { input } from '../../render/rendered-host.ts';
import type { TestHost } from '../host/host.ts';
import { factoryHost, insert } from '../reconfigure/site-host.ts';

const signal = new AbortController().signal;
const { identity, recipient } = await identityOfAge();

async function identityOfAge() {
  const own = await generateIdentity();
  return { identity: own, recipient: await identityToRecipient(own) };
}

const policyFile = '/etc/sno-agents/factory.json';

function changePolicy(host: TestHost, change: object): void {
  host.write(policyFile, JSON.stringify({ ...JSON.parse(host.read(policyFile)), ...change }));
}

/** A node that a factory may ship, and a volume for it. */
async function shippable(t: Parameters<typeof factoryHost>[0]): Promise<TestHost> {
  const host = await factoryHost(t);
  host.write(ageIdentityPath(host.paths), `${identity}\n`, 0o600);
  changePolicy(host, { recipient });
  await insert(host);
  return host;
}

async function faultsOf(host: TestHost): Promise<string[]> {
  const policy = await readFactoryPolicy(host.paths);
  const node = policy === undefined ? undefined : await knownNode(host.paths, policy);
  if (policy === undefined || node === undefined) throw new Error('it is not relocatable');
  return arrivalFaults(host.paths, policy, node);
}

t.test('a node that can be given a site', async (t) => {
  const host = await shippable(t);
  t.strictSame(await faultsOf(host), []);
  t.match(await arrive(host.paths, signal), { kind: 'request' });
});

/** `site` is what the site says; undefined for what only some volumes need. */
const FAULTS: readonly {
  readonly name: string;
  readonly spoil: (host: TestHost) => unknown;
  readonly factory: RegExp;
  readonly site?: RegExp;
}[] = [
  ...(['tpm2', 'host'] as const).map((sealSecrets) => ({
    name: `keys that are sealed to ${sealSecrets}`,
    spoil: (host: TestHost) =>
      saveRenderInput(host.paths, { ...input, cluster: { ...input.cluster, sealSecrets } }),
    factory: new RegExp(`its keys are sealed \\(sealSecrets: ${sealSecrets}\\)`),
    site: new RegExp(`its keys are sealed \\(sealSecrets: ${sealSecrets}\\)`),
  })),
  {
    name: 'nobody who may sign',
    spoil: (host) => changePolicy(host, { unsignedAllowed: false }),
    factory: /nobody may sign .* --signer/,
    site: /not signed/,
  },
  {
    name: 'only an authority of certificates that may sign',
    spoil: (host) =>
      changePolicy(host, {
        unsignedAllowed: false,
        allowedSigners: [
          'cert-authority ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHXHt+y5xL6hg/Dj27XI2zxTueZv7aunKpp04a4yIDvC',
        ],
      }),
    factory: /nobody may sign/,
    site: /not signed/,
  },
  ...(
    [
      ['sno-rotate/request.json', /a rotation of CAs or keys is under way/],
      ['sno-identity/request.json', /another name, address or domain/],
      ['sno-update/request.json', /an update is under way/],
      ['sno-backup-restore/request.json', /a backup is being restored/],
      ['sno-trial/trial.json', /trial/],
    ] as const
  ).map(([file, says]) => ({
    name: `what never ends before the kubelet starts: ${file}`,
    spoil: (host: TestHost) => host.write(`/var/lib/sno-agents/${file}`, '{}'),
    factory: says,
    site: says,
  })),
  {
    name: 'a list of used volumes that cannot be read',
    spoil: (host) => host.write('/var/lib/sno-agents/reconfigure/used.json', 'x'),
    factory: /used\.json cannot be used/,
    site: /used\.json cannot be used/,
  },
  {
    name: 'no identity of age',
    spoil: (host) => host.remove(ageIdentityPath(host.paths)),
    factory: /age-identity\.txt is not that of its policy.*reconfigure prepare/,
  },
  {
    name: 'the identity of age of another node',
    spoil: (host) => changePolicy(host, { recipient: 'age1x' }),
    factory: /age-identity\.txt is not that of its policy/,
  },
  {
    name: 'what is no identity of age',
    spoil: (host) => host.write(ageIdentityPath(host.paths), 'x\n'),
    factory: /age-identity\.txt is not that of its policy/,
  },
];

for (const { name, spoil, factory, site } of FAULTS) {
  t.test(`refused in the factory: ${name}`, async (t) => {
    const host = await shippable(t);
    await spoil(host);
    const faults = await faultsOf(host);
    t.equal(faults.length, 1, faults.join('; '));
    t.match(faults[0], factory);
    if (site !== undefined) await t.rejects(arrive(host.paths, signal), { message: site });
  });
}

for (const program of ['nmcli', 'udevadm', 'lsblk', 'systemd-run', 'ssh-keygen'] as const) {
  t.test(`refused in the factory: no ${program}`, async (t) => {
    const host = await shippable(t);
    changePolicy(host, {
      unsignedAllowed: false,
      allowedSigners: [
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHXHt+y5xL6hg/Dj27XI2zxTueZv7aunKpp04a4yIDvC',
      ],
    });
    host.programs.give('ssh-keygen', 'exit 1');
    host.programs.remove(program);
    // The machine of the test may have one.
    const expected = (await isInstalled(program)) ? [] : [`the host has no ${program}`];
    t.strictSame(await faultsOf(host), expected);
  });
}

t.test('on OpenShift, a bridge by hand is refused in the factory, too', async (t) => {
  const host = await shippable(t);
  const policy = await readFactoryPolicy(host.paths);
  if (policy === undefined) throw new Error('it is not relocatable');
  const cluster = { ...input.cluster, controlPlane: 'openshift' } as const;
  host.programs.give('ovs-vsctl', 'exit 1');
  t.strictSame(await arrivalFaults(host.paths, policy, { cluster }), []);
  host.write('/etc/ovnk/extra_bridge', 'eno2');
  t.match(await arrivalFaults(host.paths, policy, { cluster }), [
    /described by hand: \/etc\/ovnk\/extra_bridge/,
  ]);
});

t.test('a host that takes only sites with DHCP is told so', async (t) => {
  const host = await shippable(t);
  t.strictSame(await arrivalNotes(), []);
  host.programs.remove('nmstatectl');
  if (await isInstalled('nmstatectl')) return;
  t.match(await arrivalNotes(), [/no nmstatectl: it takes only sites with DHCP/]);
});

t.test('reconfigure prepare refuses what no site could mend', async (t) => {
  const host = await shippable(t);
  host.write('/var/lib/sno-agents/record.json', '{}');
  host.write('/etc/systemd/system/kubelet.service', 'Environment=KUBELET_NODE_NAME=\n');
  await requirePreparable(host.context);
  const sealed = {
    ...host.context,
    cluster: { ...host.context.cluster, sealSecrets: 'tpm2' },
  } as const;
  await t.rejects(requirePreparable(sealed), {
    kind: 'usage',
    message:
      /cannot be relocated; nothing was changed; found its keys are sealed.*without sealSecrets/,
  });
  host.write('/var/lib/sno-agents/sno-trial/trial.json', '{}');
  await t.rejects(requirePreparable(host.context), { message: /trial/ });
  host.remove('/var/lib/sno-agents/sno-trial/trial.json');
  host.remove('/etc/sno-agents/render-input.json');
  await t.rejects(requirePreparable(host.context), { kind: 'usage', message: /render-input/ });
  host.remove(policyFile);
  await t.rejects(choicesFor(host.context, {}), {
    kind: 'usage',
    message:
      /would accept no site configuration; nothing was changed; found nobody may sign .*--signer/,
  });
  t.match(await choicesFor(host.context, { allowUnsigned: true }), { unsignedAllowed: true });
});
