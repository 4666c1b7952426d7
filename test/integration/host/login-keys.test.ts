/** Who logs in at a site, with a real sshd: the keys of the site alone, and after the way back those of the factory. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { armSite } from '../../../agents/reconfigure/arm.ts';
import { checkSite } from '../../../agents/reconfigure/check.ts';
import { placeSiteFiles } from '../../../agents/reconfigure/files.ts';
import { missingPrerequisites } from '../../../lab/components/debian-packages.ts';
import { putBackRest } from '../../../lib/engine/trial/points.ts';
import { readTrial } from '../../../lib/engine/trial/store.ts';
import { reloadSshd } from '../../../lib/host/sshd.ts';
import { arrived, SITE } from '../../unit/agents/reconfigure/site-host.ts';
import { startSshd } from './sshd.ts';

const signal = AbortSignal.timeout(5 * 60_000);
const lacks = await missingPrerequisites();
const skip = lacks.length > 0 && lacks.join('; ');

const CONFIG = `Include /etc/ssh/sshd_config.d/*.conf
HostKey /etc/ssh/ssh_host_ed25519_key
PasswordAuthentication no
KbdInteractiveAuthentication no
`;
const HELPER = '/etc/ssh/ssh-key-dir';

/** How operating systems have sshd find the keys that their installation wrote. */
const SYSTEMS: readonly {
  readonly name: string;
  readonly keys: string;
  readonly more?: Readonly<Record<string, string>>;
}[] = [
  { name: 'Debian, RHEL', keys: '.ssh/authorized_keys' },
  {
    name: 'CoreOS with ssh-key-dir',
    keys: '.ssh/authorized_keys.d/ignition',
    more: {
      '/etc/ssh/sshd_config.d/40-ssh-key-dir.conf': `AuthorizedKeysCommand ${HELPER} %u\nAuthorizedKeysCommandUser root\n`,
      [HELPER]: '#!/bin/sh\nexec cat /home/$1/.ssh/authorized_keys.d/*\n',
    },
  },
  {
    name: 'CoreOS since 2026',
    keys: '.ssh/authorized_keys.d/ignition',
    more: {
      '/etc/ssh/sshd_config.d/40-authorized-keys-file.conf':
        'AuthorizedKeysFile .ssh/authorized_keys .ssh/authorized_keys.d/ignition\n',
    },
  },
];

/** A new key: the path of the private one, and the line of the public one. */
async function newKey(folder: string, type: string) {
  const path = join(folder, type);
  await execa('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', 'somebody', '-f', path]);
  return { path, line: (await readFile(`${path}.pub`, 'utf8')).trim() };
}

/** A sealed host whose factory has logged in, with a volume that has other keys. */
async function atSite(t: Test, { keys, more = {} }: (typeof SYSTEMS)[number], config = CONFIG) {
  const folder = t.testdir();
  const factory = await newKey(folder, 'ed25519');
  const site = [await newKey(folder, 'ecdsa'), await newKey(folder, 'rsa')] as const;
  const lines = site.map(({ line }) => `  ${line}\n`).join('');
  const it = await arrived(t, { config: `${SITE}ssh_key: |\n${lines}` });
  it.host.write('/etc/ssh/sshd_config', config);
  for (const [path, text] of Object.entries(more)) it.host.write(path, text, 0o755);
  it.host.write('/etc/ssh/sshd_config.d/README', '');
  const sshd = await startSshd(t, it.host, { home: { [keys]: `${factory.line}\n` }, signal });
  const whoLogsIn = async () => ({
    factory: await sshd.logsIn(factory.path),
    site: [await sshd.logsIn(site[0].path), await sshd.logsIn(site[1].path)],
  });
  return { ...it, whoLogsIn, hostKey: sshd.hostKey };
}

const OF_FACTORY = { factory: true, site: [false, false] };
const OF_SITE = { factory: false, site: [true, true] };

for (const system of SYSTEMS) {
  t.test(system.name, { skip }, async (t) => {
    const { host, run, whoLogsIn, hostKey } = await atSite(t, system);
    const ofFactory = await hostKey();
    t.same(await whoLogsIn(), OF_FACTORY);
    t.match(await run(checkSite), { kind: 'done' });
    await run(armSite);
    await run(placeSiteFiles);
    t.same(await whoLogsIn(), OF_SITE);
    const ofSite = await hostKey();
    t.match(ofSite, /^AAAA/);
    t.not(ofSite, ofFactory, 'the host has another key');
    await run(placeSiteFiles);
    t.same(await whoLogsIn(), OF_SITE, 'run again');
    t.equal(await hostKey(), ofSite);

    const trial = await readTrial(host.paths);
    if (trial === undefined) throw new Error('nothing is on trial');
    await putBackRest(host.paths, trial.points);
    await reloadSshd(signal);
    t.same(await whoLogsIn(), OF_FACTORY, 'after the way back');
    t.equal(await hostKey(), ofFactory);
  });
}

t.test('configuration that is stronger is found, and what sshd refuses', { skip }, async (t) => {
  const [debian] = SYSTEMS;
  if (debian === undefined) return;
  const own = 'Match User core\n\tAuthorizedKeysFile .ssh/authorized_keys\nMatch all\n';
  const stronger = await atSite(t, debian, own + CONFIG);
  await t.rejects(stronger.run(placeSiteFiles), {
    code: 'site-login',
    message: /authorizedkeysfile/,
  });
  t.same(await stronger.whoLogsIn(), OF_FACTORY);

  stronger.host.write('/etc/ssh/sshd_config', `PubkeyAcceptedAlgorithms ssh-ed25519\n${CONFIG}`);
  await t.rejects(stronger.run(checkSite), {
    code: 'site-login',
    message: /one of ecdsa-sha2-nistp256, one of ssh-rsa/,
  });
});
