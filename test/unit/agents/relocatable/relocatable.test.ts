import { identityToRecipient } from 'age-encryption';
import t, { type Test } from 'tap';
import {
  type FactoryContext,
  factoryPolicy,
  usualChoices,
  withoutFactoryPolicy,
} from '../../../../agents/steps/relocatable/factory-policy.ts';
import {
  internalAddress,
  withoutInternalAddress,
} from '../../../../agents/steps/relocatable/internal-address.ts';
import { nodeName, withoutNodeName } from '../../../../agents/steps/relocatable/node-name.ts';
import { relocatable } from '../../../../agents/steps/relocatable/relocatable.ts';
import {
  internalAddresses,
  readFactoryPolicy,
} from '../../../../lib/relocation/relocatable/policy.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';

const ENV = '/etc/sno-agents/kubelet.env';
const PROFILE = '/etc/NetworkManager/system-connections/br-node.nmconnection';
const SCRIPT = '/etc/NetworkManager/dispatcher.d/pre-up.d/50-sno-internal-address';
const IDENTITY = '/etc/sno-agents/reconfigure/age-identity.txt';

/**
 * A host with the addresses of its installation on eth0, and a NetworkManager that makes the bridge with the
 * address of its profile, runs the script, and removes both.
 */
function factoryHost(
  t: Test,
  options: HostOptions = {},
  addresses: readonly string[] = ['192.0.2.10'],
): TestHost {
  const host = testHost(t, options);
  host.write(ENV, `KUBELET_NODE_IPS=${addresses.join(',')}\n`);
  addressed(host, ...addresses);
  host.programs.give(
    'nmcli',
    `case "$*" in
"connection load $ROOT${PROFILE}") [ -f "$ROOT${PROFILE}" ] ;;
"--wait 20 connection up br-node")
  sed -n 's|^address1=\\(.*\\)/32|\\1/32|p' "$ROOT${PROFILE}" > "$ROOT/bridge"
  [ ! -f "$ROOT${SCRIPT}" ] || (sleep 0.5; sh "$ROOT${SCRIPT}" br-node pre-up) > /dev/null 2>&1 & ;;
"connection delete br-node") [ -f "$ROOT/bridge" ] && rm "$ROOT/bridge" || exit 10 ;;
*) exit 97 ;;
esac`,
  );
  return host;
}

/** The adapter has those addresses; the bridge has its own. */
function addressed(host: TestHost, ...addresses: readonly string[]): void {
  const entry = (name: string, local: string, length: number | string) =>
    `{"ifname":"${name}","addr_info":[{"local":"${local}","prefixlen":${length},"scope":"global"}]}`;
  host.programs.give(
    'ip',
    `case "$*" in
"-json address show") ;;
"-6 address replace "*" dev br-node nodad") echo "$4" >> "$ROOT/bridge"; exit ;;
*) exit 97 ;;
esac
[ ! -f "$ROOT/bridge" ] || while IFS=/ read -r local length; do
  bridge="$bridge,$(printf '${entry('br-node', '%s', '%s')}' "$local" "$length")"
done < "$ROOT/bridge"
echo '[${addresses.map((each) => entry('eth0', each, 24)).join()}'"$bridge"']'`,
  );
}

t.test('the address of the installation on a bridge of its own', async (t) => {
  const host = factoryHost(t);
  t.equal(await host.holds(internalAddress), false, 'before');
  t.same(await host.run(internalAddress), { kind: 'done', note: '192.0.2.10' });
  t.equal(host.mode(PROFILE), 0o600, 'NetworkManager ignores others');
  t.match(host.read(PROFILE), 'address1=192.0.2.10/32');
  t.equal(await host.holds(internalAddress), true, 'after');
  host.remove('/bridge');
  t.equal(await host.holds(internalAddress), false, 'a bridge that is gone');
  await host.run(internalAddress);
  t.equal(await host.holds(internalAddress), true, 'again');
});

t.test('NetworkManager that does not make it', async (t) => {
  const host = factoryHost(t);
  host.programs.give('nmcli', 'exit 0');
  const run = internalAddress.run(host.context, host.progress(undefined, 300));
  t.match(await thrownBy(run), {
    kind: 'retry',
    message: /br-node does not have the address 192\.0\.2\.10/,
  });
});

for (const [what, addresses] of [
  ['IPv6 alone', ['2001:db8::10']],
  ['both families, IPv4 first', ['192.0.2.10', '2001:db8::10']],
  ['both families, IPv6 first', ['2001:db8::10', '192.0.2.10']],
] as const) {
  t.test(`${what}: all addresses on the bridge, and taken back`, async (t) => {
    const host = factoryHost(t, {}, addresses);
    host.write('/sys/fs/selinux/enforce', '1');
    host.programs.give('setfiles', `[ -f "$ROOT${SCRIPT}" ] && tr '\\0' '\\n' > "$ROOT/labelled"`);
    t.same(await host.run(internalAddress), { kind: 'done', note: addresses.join(', ') });
    t.match(host.read('/labelled'), SCRIPT, 'or SELinux keeps NetworkManager from running it');
    t.equal(host.mode(SCRIPT), 0o755);
    const onBridge = () => host.read('/bridge').trim().split('\n').toSorted();
    const expected = addresses.map((each) => `${each}/${each.includes(':') ? 128 : 32}`);
    t.strictSame(onBridge(), expected.toSorted());
    t.equal(await host.holds(internalAddress), true);
    host.write('/bridge', `${expected[0]}\n`);
    t.equal(await host.holds(internalAddress), addresses.length === 1, 'every address counts');
    const choices = usualChoices({ sshKeys: ['ssh-ed25519 AAAA'] });
    await factoryPolicy.run({ ...host.context, choices }, host.progress());
    const policy = await readFactoryPolicy(host.paths);
    t.strictSame(policy && internalAddresses(policy), addresses);
    addressed(host, addresses[0]);
    if (addresses.length > 1) {
      t.match(await host.failureOf(withoutInternalAddress), { kind: 'usage' }, 'one is lost');
      addressed(host, ...addresses);
    }
    await host.run(withoutInternalAddress);
    t.notOk(host.has(PROFILE) || host.has(SCRIPT));
    t.equal(await host.holds(withoutInternalAddress), true);
  });
}

for (const [what, environment] of [
  ['two addresses of one family', 'KUBELET_NODE_IPS=192.0.2.10,192.0.2.11\n'],
  ['none', ''],
]) {
  t.test(`${what}: refused before anything is changed`, async (t) => {
    const host = factoryHost(t);
    host.write(ENV, environment);
    t.match(await host.failureOf(internalAddress), { kind: 'usage' });
    t.notOk(host.has(PROFILE));
  });
}

t.test('taken back where the adapter has the address, and nowhere else', async (t) => {
  const host = factoryHost(t);
  await host.run(internalAddress);
  addressed(host, '198.51.100.7');
  t.match(await host.failureOf(withoutInternalAddress), {
    kind: 'usage',
    message: /no adapter has the address 192\.0\.2\.10.*198\.51\.100\.7 on eth0/,
  });
  t.ok(host.has(PROFILE), 'nothing was changed');
  addressed(host, '192.0.2.10');
  t.equal(await host.holds(withoutInternalAddress), false);
  await host.run(withoutInternalAddress);
  t.notOk(host.has(PROFILE));
  t.equal(await host.holds(withoutInternalAddress), true);
  await host.run(withoutInternalAddress);
  t.pass('again, after an interruption');
});

t.test('the name of the Node is pinned, and follows the host again', async (t) => {
  const host = factoryHost(t);
  t.equal(await host.holds(nodeName), false);
  t.same(await host.run(nodeName), { kind: 'done', note: 'edge-0' });
  t.equal(host.read(ENV), 'KUBELET_NODE_IPS=192.0.2.10\nKUBELET_NODE_NAME=edge-0\n');
  t.equal(await host.holds(nodeName), true);
  t.equal(await host.holds(withoutNodeName), false);
  t.match(
    await host.failureOf(withoutNodeName),
    { kind: 'usage', message: /expected edge-0.*hostnamectl set-hostname edge-0/ },
    'the host of the tests has another name',
  );
  t.equal(await host.holds(nodeName), true, 'nothing was changed');
});

t.test('the policy, with a key that only this node has', async (t) => {
  const host = factoryHost(t);
  const choices = { ...usualChoices({ sshKeys: ['ssh-ed25519 AAAA'] }), shippingDays: 45 };
  const context: FactoryContext = { ...host.context, choices };
  t.equal(await factoryPolicy.holds(context, host.progress()), false);
  await factoryPolicy.run(context, host.progress());
  const policy = await readFactoryPolicy(host.paths);
  t.match(policy, {
    internalAddress: '192.0.2.10',
    nodeName: 'edge-0',
    allowedSigners: ['ssh-ed25519 AAAA'],
    unsignedAllowed: false,
    shippingDays: 45,
  });
  t.equal(host.mode(IDENTITY), 0o600);
  t.equal(await identityToRecipient(host.read(IDENTITY).trim()), policy?.recipient);
  t.equal(await factoryPolicy.holds(context, host.progress()), true);
  const other = { ...context, choices: { ...choices, unsignedAllowed: true } };
  t.equal(await factoryPolicy.holds(other, host.progress()), false, 'another choice');
  await factoryPolicy.run(other, host.progress());
  t.equal((await readFactoryPolicy(host.paths))?.recipient, policy?.recipient, 'the same key');
  t.notMatch(host.lines.join(''), /AGE-SECRET-KEY/, 'no key in the log');
});

t.test('taken back: no policy, no key, no seal, and a kubelet that starts', async (t) => {
  const host = factoryHost(t);
  const context = { ...host.context, choices: usualChoices({ sshKeys: [] }) };
  await factoryPolicy.run(context, host.progress());
  host.write('/etc/sno-agents/sealed', '{}');
  host.programs.give('systemctl', 'exit 0');
  t.equal(await host.holds(withoutFactoryPolicy), false);
  await host.run(withoutFactoryPolicy);
  t.equal(await host.holds(withoutFactoryPolicy), true);
  t.same(host.programs.calls('systemctl'), ['systemctl start --no-block kubelet.service']);
  await host.run(withoutFactoryPolicy);
  t.equal(host.programs.calls('systemctl').length, 1, 'what was not sealed is not started');
});

t.test('as a part of the installation, if install-config.yaml says so', async (t) => {
  const other = factoryHost(t);
  t.equal(await other.holds(relocatable), true);
  t.same(await other.run(relocatable), { kind: 'done', note: 'not asked for' });
  t.notOk(other.has(PROFILE));

  const host = factoryHost(t, { cluster: { relocatable: true, sshKeys: ['ssh-ed25519 AAAA'] } });
  t.equal(await host.holds(relocatable), false);
  await host.run(relocatable);
  t.equal(await host.holds(relocatable), true);
  t.match(host.read(ENV), 'KUBELET_NODE_NAME=edge-0');
  t.match(await readFactoryPolicy(host.paths), { allowedSigners: ['ssh-ed25519 AAAA'] });
  host.remove(PROFILE);
  t.equal(await host.holds(relocatable), false, 'every part counts');
});
