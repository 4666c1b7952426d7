/** The SSH keys of a site: they log in alone, or nothing is changed. With a real sshd: test/integration/host/login-keys.test.ts. */
import t, { type Test } from 'tap';
import { checkSite } from '../../../../agents/reconfigure/check.ts';
import { presentInput } from '../../../../agents/reconfigure/context.ts';
import { placeSiteFiles } from '../../../../agents/reconfigure/files.ts';
import { touchedFiles } from '../../../../agents/reconfigure/touched.ts';
import { sshPublicKey } from '../../../../lab/site-inputs.ts';
import { isInstalled } from '../../../../lib/host/search-path.ts';
import { arrived, SITE } from './site-host.ts';

const KEYS = '/etc/ssh/sno-site-keys';
const DROP_IN = '/etc/ssh/sshd_config.d/00-sno-site-keys.conf';
const RSA =
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC6IDKSYUNFoz8kl46+E0Y0pTrLmZ3npAv3bPISGNs5Ci2dhlNLhjD3TMSxrJstcKk+WPo2fu3RtJ7+DbiUzuU68oND/BQ9ehpR/5GTU4uZNASJ0rswaUPPufsGATH6y//pK49ntB5h/ArCKhO2rEmn39J4pKgnRFcLN44gXmvaSOiCrOxkge2i7XxWdTjgEBLAKsSPvqFSl1Fyc4T1DXD2ozkEgh9M3GBbQhHTUqsm+dsEfGbL26ZpZRT8eFn2FJ0Ivkap8qV9xO2f6HVMymyRmSmbpiRp6z7/DH3v2WnUBLRwsmSojXB2ttkk9wxP8Seg+grM32zA5gfZGOZu+0Pz';

const POLICY = 'pubkeyacceptedalgorithms ssh-ed25519,rsa-sha2-512\nrequiredrsasize 2048';

/** It prints what it would do, once the drop-in is there. */
const sshd = (policy = POLICY, file = KEYS) => `[ "$1 $2" = "-T -C" ] || exit 1
cat <<'END'
${policy}
END
if [ -e "$ROOT${DROP_IN}" ]; then echo authorizedkeysfile ${file}; echo authorizedkeyscommand none
else echo authorizedkeysfile .ssh/authorized_keys; echo authorizedkeyscommand /usr/libexec/ssh-key-dir
fi`;

async function atSite(t: Test, keys: readonly string[], policy?: string) {
  const it = await arrived(t, { config: `${SITE}ssh_key: |\n  ${keys.join('\n  ')}\n` });
  it.host.programs.give('sshd', sshd(policy));
  it.host.programs.give(
    'systemctl',
    'case "$*" in "show sshd.service "*) echo ActiveState=active ;; show*) echo ActiveState=inactive ;; esac',
  );
  return it;
}

t.test('ssh_key: the keys of the site take the place of those of the factory', async (t) => {
  const keys = [sshPublicKey(), RSA];
  const { host, context, run, holds } = await atSite(t, keys);
  t.match(await run(checkSite), { kind: 'done' });
  const kept = await touchedFiles(context);
  for (const path of [KEYS, DROP_IN, '/etc/sno-agents/cluster.json']) t.ok(kept.includes(path));
  t.notOk(await holds(placeSiteFiles));
  await run(placeSiteFiles);
  t.ok(await holds(placeSiteFiles));
  t.equal(host.read(KEYS), `${keys.join('\n')}\n`);
  t.same([host.mode(KEYS), host.mode(DROP_IN)], [0o644, 0o644], 'sshd reads them as the user');
  t.match(host.read(DROP_IN), /^Match User core\n\tAuthorizedKeysFile \/etc\/ssh\/sno-site-keys$/m);
  t.match(host.read(DROP_IN), /^\tAuthorizedKeysCommand none$/m);
  const reloads = () => host.programs.calls('systemctl reload');
  t.same(reloads(), ['systemctl reload sshd.service']);
  t.same((await presentInput(context)).cluster.sshKeys, keys, 'who may sign updates');

  await run(placeSiteFiles);
  t.equal(reloads().length, 2, 'an agent that was killed may not have reached it');
  const next = { ...context, site: { ...context.site, sshKeys: undefined } };
  t.ok(await placeSiteFiles.holds(next, host.progress()), 'a site that says nothing leaves them');
  t.ok(host.has(DROP_IN));
});

t.test('ssh_key: configuration of the host that is stronger', async (t) => {
  const { host, run } = await atSite(t, [sshPublicKey()]);
  host.programs.give('sshd', sshd(POLICY, '.ssh/authorized_keys'));
  await t.rejects(run(placeSiteFiles), {
    code: 'site-login',
    message: /not take only the keys.*authorizedkeysfile.*sno-site-keys.*\.ssh\/authorized_keys/s,
  });
  t.same(host.programs.calls('systemctl reload'), []);
});

t.test('ssh_key: keys that this host refuses change nothing', async (t) => {
  const strict = 'pubkeyacceptedalgorithms ecdsa-sha2-nistp256,rsa-sha2-256\nrequiredrsasize 3072';
  const { host, run } = await atSite(t, [sshPublicKey(), RSA], strict);
  await t.rejects(run(checkSite), {
    code: 'site-login',
    kind: 'usage',
    message: /one of ssh-ed25519, one of ssh-rsa with 2048 bits/,
  });
  host.programs.give('sshd', sshd('pubkeyacceptedkeytypes ssh-ed25519,ssh-rsa'));
  t.match(await run(checkSite), { kind: 'done' }, 'the older name of the keyword');
  host.programs.give('ssh-keygen', 'echo 256 SHA256:x');
  await t.rejects(run(checkSite), { message: /1 of 2 keys that its ssh-keygen can read/ });
  t.notOk(host.has(KEYS));
});

const skip = (await isInstalled('sshd')) && 'this machine has sshd';

t.test('ssh_key: a host without sshd', { skip }, async (t) => {
  const { host, run } = await atSite(t, [sshPublicKey()]);
  host.programs.remove('sshd');
  await t.rejects(run(checkSite), { code: 'site-login', message: /no sshd/ });
});
