import type { NewFile } from '../../host/files.ts';
import { isPlainKey, shortKeyProblem } from '../../pki/signature/ssh-keys.ts';

/** Who logs in; CoreOS has no other user. */
export const LOGIN_USER = 'core';

/** Paths on the host. sshd reads the keys as the user who logs in: not below /etc/sno-agents, which only root may enter. */
export const loginKeyPaths = {
  keys: '/etc/ssh/sno-site-keys',
  /** Before those of the operating system, whose file for keys has 40 or 50. */
  dropIn: '/etc/ssh/sshd_config.d/00-sno-site-keys.conf',
} as const;

/**
 * Only the keys of the site log in. What is in the home of the user stays, and counts no more: Ignition wrote the keys of
 * the installation to ~/.ssh/authorized_keys.d, which CoreOS reads by an AuthorizedKeysCommand (ssh-key-dir) or, since 2026,
 * by AuthorizedKeysFile; other systems have them in ~/.ssh/authorized_keys. A Match block is stronger than all of them, and
 * a file in /etc/ssh needs no label of SELinux, no helper and no right to write to somebody's home.
 */
const DROP_IN = `# Written by reconfigure: the site volume says who may log in.
Match User ${LOGIN_USER}
	AuthorizedKeysFile ${loginKeyPaths.keys}
	AuthorizedKeysCommand none
`;

export const loginKeyFiles = (keys: readonly string[]): NewFile[] => [
  { path: loginKeyPaths.keys, contents: `${keys.join('\n')}\n`, mode: 0o644 },
  { path: loginKeyPaths.dropIn, contents: DROP_IN, mode: 0o644 },
];

/** How `loginSettings` has them then. */
export const loginKeySettings: ReadonlyMap<string, string> = new Map([
  ['authorizedkeysfile', loginKeyPaths.keys],
  ['authorizedkeyscommand', 'none'],
]);

/** Why valid keys do not do as those of a site; undefined: they do. */
export function loginKeysProblem(
  keys: readonly string[],
): { readonly expected: string; readonly found: string; readonly fix: string } | undefined {
  const numbered = (at: number) => `number ${at + 1} of ${keys.length}`;
  if (keys.length === 0) {
    const fix = 'Write the line of a .pub file, or omit the field: the keys that log in now stay.';
    return { expected: 'at least one key', found: 'none', fix };
  }
  // An option is a command, a certificate authority, or a limit that would lock everybody out.
  const withOptions = keys.findIndex((key) => !isPlainKey(key));
  if (withOptions >= 0) {
    const found = `options before key ${numbered(withOptions)}`;
    const fix = 'Write the line as the .pub file has it: TYPE KEY NAME.';
    return { expected: 'keys without options', found, fix };
  }
  return shortKeyProblem(keys);
}
