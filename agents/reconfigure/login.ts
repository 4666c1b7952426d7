import { Failure } from '../../lib/base/errors/failure.ts';
import { LOGIN_USER, loginKeyPaths, loginKeySettings } from '../../lib/config/site/login-keys.ts';
import type { SiteConfig } from '../../lib/config/site-config/site-config.ts';
import { run } from '../../lib/host/command.ts';
import { loginSettings, reloadSshd } from '../../lib/host/sshd.ts';
import { rsaBitsOf } from '../../lib/pki/signature/ssh-keys.ts';

const PROGRAM_MS = 30_000;

/**
 * Checks that this host's sshd accepts the keys of the site, before anything is changed: otherwise the site would be
 * locked out.
 * @throws Failure (usage, `site-login`) with what it does not take
 */
export async function requireUsableKeys(
  { sshKeys }: Pick<SiteConfig, 'sshKeys'>,
  signal: AbortSignal,
): Promise<void> {
  if (sshKeys === undefined) return;
  const settings = await loginSettings(LOGIN_USER, signal);
  if (settings === undefined) {
    throw unusable('the host has no sshd', 'Remove ssh_key: nobody logs in to this host by SSH.');
  }
  const limits = { signal, deadlineMs: PROGRAM_MS };
  const input = `${sshKeys.join('\n')}\n`;
  const read = await run('ssh-keygen', ['-l', '-f', '-'], { ...limits, input });
  const count = read.split('\n').filter((line) => line.trim() !== '').length;
  if (count !== sshKeys.length) {
    const found = `${count} of ${sshKeys.length} keys that its ssh-keygen can read`;
    throw unusable(found, 'Use keys of ssh-keygen -t ed25519.');
  }
  const refused = sshKeys.flatMap((key) => whyRefused(key, settings) ?? []);
  if (refused.length > 0) throw unusable(refused.join(', '), 'Use keys of ssh-keygen -t ed25519.');
}

const unusable = (found: string, fix: string): Failure =>
  new Failure('usage', 'the host cannot be given the SSH keys of the site', {
    code: 'site-login',
    expected: 'keys in ssh_key that the sshd of this host takes',
    found,
    fix,
  });

/** Why sshd refuses a key: usually the operating system's policy, such as that of RHEL. */
function whyRefused(key: string, settings: ReadonlyMap<string, string>): string | undefined {
  const type = key.split(/[ \t]/, 1)[0] ?? '';
  // The second name is that before OpenSSH 8.5.
  const names = ['pubkeyacceptedalgorithms', 'pubkeyacceptedkeytypes'];
  const accepted = names.flatMap((name) => settings.get(name)?.split(',') ?? []);
  if (!signaturesOf(type).some((each) => accepted.includes(each))) return `one of ${type}`;
  const bits = rsaBitsOf(key);
  const least = Number(settings.get('requiredrsasize') ?? 0);
  return bits === undefined || bits >= least ? undefined : `one of ${type} with ${bits} bits`;
}

/** A key of RSA signs in three ways. */
const signaturesOf = (type: string): readonly string[] =>
  type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', type] : [type];

/**
 * Has sshd read the site's configuration. Done every time: an agent that was killed may only have written the file.
 * @throws Failure (fatal, `site-login`) if other configuration of the host is stronger
 */
export async function requireLogin(
  { sshKeys }: Pick<SiteConfig, 'sshKeys'>,
  signal: AbortSignal,
): Promise<void> {
  if (sshKeys === undefined) return;
  const settings = await loginSettings(LOGIN_USER, signal);
  for (const [keyword, expected] of loginKeySettings) {
    const found = settings?.get(keyword);
    if (found === expected) continue;
    throw new Failure('fatal', `sshd does not take only the keys of the site: ${keyword}`, {
      code: 'site-login',
      expected,
      found,
      fix: `Have the factory remove what sets it for ${LOGIN_USER} before ${loginKeyPaths.dropIn}, or include /etc/ssh/sshd_config.d/*.conf first.`,
    });
  }
  await reloadSshd(signal);
}
