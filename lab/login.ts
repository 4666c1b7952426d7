import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../lib/base/errors/failure.ts';
import { run } from '../lib/host/command.ts';
import { ensureComponent } from './components/component.ts';
import { opensshServer, sshdPaths } from './components/openssh-server.ts';
import { eventually } from './eventually.ts';
import type { Host } from './host/host.ts';

const COMMAND_MS = 60_000;
const LOGIN_MS = 30_000;
const LIBRARIES = 'usr/lib/x86_64-linux-gnu';

/** The installation writes keys to the second file, as on CoreOS. */
const CONFIG = `Include /etc/ssh/sshd_config.d/*.conf
AuthorizedKeysFile .ssh/authorized_keys .ssh/authorized_keys.d/ignition
PasswordAuthentication no
KbdInteractiveAuthentication no
`;

const UNIT = `[Service]
ExecStart=/usr/sbin/sshd -D
ExecReload=/bin/kill -HUP $MAINPID
RuntimeDirectory=sshd

[Install]
WantedBy=multi-user.target
`;

/** Whether somebody who has this private key logs in as core. */
export async function logsIn(
  { address, port }: { readonly address: string; readonly port: number },
  key: string,
  signal: AbortSignal,
): Promise<boolean> {
  const options = [
    ...['BatchMode=yes', 'IdentitiesOnly=yes', 'IdentityAgent=none', 'PasswordAuthentication=no'],
    ...['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'],
  ].flatMap((option) => ['-o', option]);
  const { exitCode, stderr } = await execa(
    'ssh',
    ['-F', 'none', ...options, '-i', key, '-p', `${port}`, `core@${address}`, 'true'],
    { reject: false, timeout: LOGIN_MS, cancelSignal: signal },
  );
  if (exitCode === 0) return true;
  if (/Permission denied/.test(stderr)) return false;
  throw new Failure('retry', `ssh ended with ${exitCode}`, { found: stderr });
}

/** sshd on a host of the lab, which has none, and who may log in: somebody of the factory, then of the site. */
export class SiteLogin {
  readonly #folder: string;
  readonly #signal: AbortSignal;
  readonly #seen: Set<string>;

  constructor(folder: string, signal: AbortSignal) {
    this.#folder = folder;
    this.#signal = signal;
    this.#seen = new Set();
  }

  /** In the factory, whose own key logs in. */
  async install({ rootDir, exec }: Pick<Host, 'rootDir' | 'exec'>): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    for (const whose of ['factory', 'site']) {
      const args = ['-q', '-t', 'ed25519', '-N', '', '-C', whose, '-f', this.#key(whose)];
      await run('ssh-keygen', args, { signal: this.#signal, deadlineMs: COMMAND_MS });
    }
    const within = { signal: this.#signal, report: () => undefined };
    const folder = await ensureComponent(opensshServer, within);
    const { program, libraries } = sshdPaths(folder);
    const at = (path: string) => join(rootDir, path);
    await copyFile(program, at('usr/sbin/sshd'));
    await copyFile(join(libraries, 'libwrap.so.0'), at(join(LIBRARIES, 'libwrap.so.0')));
    await mkdir(at('etc/ssh/sshd_config.d'), { recursive: true });
    await writeFile(at('etc/ssh/sshd_config'), CONFIG);
    await writeFile(at('etc/systemd/system/sshd.service'), UNIT);
    await writeFile(at('root/factory.pub'), await readFile(`${this.#key('factory')}.pub`));
    await chmod(at('usr/sbin/sshd'), 0o755);
    const home = '/home/core/.ssh';
    for (const argv of [
      ['useradd', '--system', '--home-dir', '/run/sshd', '--shell', '/usr/sbin/nologin', 'sshd'],
      ['install', '-d', '-o', 'core', '-m', '700', home],
      ['install', '-o', 'core', '-m', '600', '/root/factory.pub', `${home}/authorized_keys`],
      ['ssh-keygen', '-A'],
      ['systemctl', 'enable', '--now', 'sshd.service'],
    ]) {
      const { exitCode, stderr } = await exec(argv, { timeoutMs: COMMAND_MS }, this.#signal);
      if (exitCode === 0) continue;
      throw new Failure('fatal', `${argv.join(' ')} ended with ${exitCode}`, { found: stderr });
    }
  }

  /** For site-config.yaml. */
  async field(): Promise<{ readonly ssh_key: string }> {
    return { ssh_key: await readFile(`${this.#key('site')}.pub`, 'utf8') };
  }

  /** @throws Failure unless somebody of this place logs in there, nobody of the other one, and the host has keys of its own there */
  async expect(whose: 'factory' | 'site', address: string): Promise<void> {
    const at = { address, port: 22 };
    const look = async () => ({
      factory: await logsIn(at, this.#key('factory'), this.#signal),
      site: await logsIn(at, this.#key('site'), this.#signal),
    });
    const found = await eventually(look, LOGIN_MS, this.#signal);
    if (!found[whose] || found.factory === found.site) {
      throw new Failure('fatal', `not only the key of the ${whose} logs in`, {
        found: JSON.stringify(found),
      });
    }
    await this.#expectOtherKeys(address);
  }

  /** What a client sees of the host, which has other keys at each place. */
  async #expectOtherKeys(address: string): Promise<void> {
    const limits = { signal: this.#signal, deadlineMs: COMMAND_MS };
    const shown = await run('ssh-keyscan', ['-t', 'ed25519', address], limits);
    const key = shown.trim().split(/\s+/).at(-1) ?? '';
    if (key === '' || this.#seen.has(key)) {
      throw new Failure('fatal', 'the host has no key of SSH of its own here', { found: key });
    }
    this.#seen.add(key);
  }

  #key(whose: string): string {
    return join(this.#folder, whose);
  }
}
