import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Test } from 'tap';
import { ensureComponent } from '../../../lab/components/component.ts';
import { opensshServer, sshdPaths } from '../../../lab/components/openssh-server.ts';
import { logsIn } from '../../../lab/login.ts';
import { freePort } from '../../../lab/servers/free-port.ts';
import type { TestHost } from '../../unit/agents/host/host.ts';

const START_MS = 20_000;

/** Not the host's programs, which a test guards. */
const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** What is different for sshd: the host's /etc/ssh, and users and homes that this machine does not have. */
const MOUNTS = `set -e
mount --bind "$ROOT/etc/ssh" /etc/ssh
mount --bind "$FOLDER/passwd" /etc/passwd
mount --bind "$FOLDER/shadow" /etc/shadow
mount --bind "$FOLDER/home" /home
mount -t tmpfs tmpfs /run
mkdir /run/sshd
exec "$@"`;

/** A real sshd with the configuration of a host in a folder, where /etc/ssh is. */
export interface RunningSshd {
  /** Whether somebody who has this private key logs in as core. */
  logsIn(key: string): Promise<boolean>;
  /** The key by which a client knows it. */
  hostKey(): Promise<string>;
}

/**
 * Starts it in a mount namespace. The host's programs `sshd` and `systemctl` are this sshd's: the first one reads the same
 * configuration, the second one reloads it.
 */
export async function startSshd(
  t: Test,
  host: TestHost,
  {
    home,
    signal,
  }: { readonly home: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<RunningSshd> {
  const component = await ensureComponent(opensshServer, {
    signal,
    report: (line) => t.comment(line),
  });
  const { program, libraries } = sshdPaths(component);
  const folder = join(host.root, '..', 'machine');
  await writeUsers(folder, home);
  const port = await freePort();
  const hostKey = join(host.root, 'etc/ssh/ssh_host_ed25519_key');
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', hostKey]);
  const listen = ['-D', '-e', '-o', `Port=${port}`, '-o', 'ListenAddress=127.0.0.1'];
  const sshd = execa(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-c', MOUNTS, 'sh', program, ...listen],
    {
      env: { ROOT: host.root, FOLDER: folder, LD_LIBRARY_PATH: libraries, PATH: SYSTEM_PATH },
      reject: false,
      forceKillAfterDelay: 2_000,
    },
  );
  sshd.stderr.on('data', (text: Buffer) => t.comment(String(text).trim()));
  const log = join(folder, 'log');
  sshd.stderr.pipe(createWriteStream(log));
  t.teardown(async () => {
    sshd.kill();
    await sshd;
  });
  await listening(sshd.stderr);
  const inside = `nsenter --target ${sshd.pid} --mount`;
  host.programs.give('sshd', `LD_LIBRARY_PATH=${libraries} exec ${inside} ${program} "$@"`);
  host.programs.give(
    'systemctl',
    `case "$*" in
"show sshd.service "*) echo ActiveState=active ;;
show*) echo ActiveState=inactive ;;
"reload sshd.service")
  starts=$(${starts(log)})
  kill -HUP ${sshd.pid}
  while [ "$(${starts(log)})" = "$starts" ]; do sleep 0.1; done ;;
esac`,
  );
  const address = '127.0.0.1';
  return {
    logsIn: (key) => logsIn({ address, port }, key, signal),
    hostKey: async () => {
      const args = ['-p', `${port}`, '-t', 'ed25519', address];
      const { stdout } = await execa('ssh-keyscan', args, { cancelSignal: signal });
      return stdout.trim().split(' ').at(-1) ?? '';
    },
  };
}

/**
 * How often it has started. A reload is a restart, which begins some time after the signal: until then sshd answers by
 * its old configuration, and then for a while it does not answer.
 */
const starts = (log: string) => `grep -c 'Server listening' '${log}'`;

async function writeUsers(folder: string, home: Readonly<Record<string, string>>): Promise<void> {
  const users = await readFile('/etc/passwd', 'utf8');
  const others = users.split('\n').filter((line) => !/^(sshd|core):/.test(line));
  const own = [
    'sshd:x:64321:65534::/run/sshd:/usr/sbin/nologin',
    'core:x:64320:65534::/home/core:/bin/sh',
  ];
  await mkdir(join(folder, 'home/core/.ssh/authorized_keys.d'), { recursive: true });
  await writeFile(join(folder, 'passwd'), [...own, ...others].join('\n'));
  await writeFile(join(folder, 'shadow'), 'core:*:19000:0:99999:7:::\n', { mode: 0o600 });
  for (const [name, contents] of Object.entries(home)) {
    await writeFile(join(folder, 'home/core', name), contents);
  }
}

async function listening(log: NodeJS.ReadableStream): Promise<void> {
  let text = '';
  const signal = AbortSignal.timeout(START_MS);
  while (!text.includes('Server listening')) {
    const [chunk] = await once(log, 'data', { signal });
    text += String(chunk);
  }
}
