import { Failure } from '../../lib/base/errors/failure.ts';
import { deploymentsOf } from '../host/deployments.ts';
import { onHost } from '../host/on-host.ts';
import type { RunningCheck } from './check.ts';

const EXEC_MS = 20_000;

/** By path of a file that nobody may make there: what the kernel says to root. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  '/lab': /Operation not permitted/,
  '/usr/lab': /Read-only file system/,
  '/sysroot/lab': /Read-only file system/,
  '/boot/lab': /Read-only file system/,
};

export const readOnly: RunningCheck = {
  name: 'of the deployment only /etc can be written, and /sysroot and /boot are for reading',
  run: async ({ host }, signal) => {
    for (const [path, says] of Object.entries(REFUSED)) {
      const { exitCode, stderr } = await host.exec(['touch', path], { timeoutMs: EXEC_MS }, signal);
      if (exitCode !== 0 && says.test(stderr)) continue;
      throw new Failure('fatal', `${path} can be written, or not for the reason that is meant`, {
        expected: says.source,
        found: stderr || 'no error',
      });
    }
  },
};

export const oneDeployment: RunningCheck = {
  name: 'ostree knows one deployment, which is booted',
  run: async ({ host }, signal) => {
    const found = await deploymentsOf(host, signal);
    if (found.length === 1 && found[0]?.isBooted === true) return;
    throw new Failure('fatal', 'there are other deployments', { found: JSON.stringify(found) });
  },
};

/** What differs in /etc after the first boot, whoever runs on the host: by systemd and Ignition. */
const OF_THE_SYSTEM: readonly RegExp[] = [
  /^machine-id$/,
  /^\.ignition-result\.json$/,
  /^systemd\/system-preset\/20-ignition\.preset$/,
  /^systemd\/system\/(chronyd\.service|ctrl-alt-del\.target)$/,
  /^systemd\/system\/[^/]+\.(wants|requires)(\/|$)/,
  // The user `core`.
  /^(passwd|group|shadow|gshadow|subuid|subgid)-?$/,
  // Network profiles and name servers, of NetworkManager.
  /^NetworkManager\/system-connections(\/|$)/,
  /^resolv\.conf$/,
];

/** What the product writes there, as docs/operating-systems.md has it ("Fedora CoreOS and RHEL CoreOS"), and folders for that. */
const OF_THE_PRODUCT: readonly RegExp[] = [
  /^(sno-agents|kubernetes)(\/|$)/,
  /^(hostname|chrony\.conf|default\/nodeip-configuration)$/,
  /^containerd\/certs\.d(\/[^/]+(\/hosts\.toml)?)?$/,
  /^systemd\/system\/(kubelet|bootkube|reconfigure)\.service$/,
  /(^|\/)(\d\d-)?sno[-.][^/]+(\/|$)/,
  /^systemd\/system\/[^/]+\.d$/,
  /^systemd\/(logind|system)\.conf\.d$/,
  /^(cni(\/net\.d)?|issue\.d|containers(\/registries\.conf\.d)?|pki(\/ca-trust(\/source(\/anchors)?)?)?)$/,
];

/** What the lab's administrator adds to some of the hosts (lab/own-inputs.ts). */
const OF_THE_LAB: readonly RegExp[] = [
  /^shop(\/|$)/,
  /^systemd\/system\/(shop-till\.service|kubelet\.service\.d\/50-shop\.conf)$/,
];

/** Paths below /etc, of the output of `ostree admin config-diff`. */
export const changedIn = (text: string): string[] =>
  Array.from(text.matchAll(/^[AMD] +(\S.*)$/gm), ([, path = '']) => path);

/** Those that neither the system nor the product is known to change. */
export function undocumented(changed: readonly string[]): string[] {
  const known = [...OF_THE_SYSTEM, ...OF_THE_PRODUCT, ...OF_THE_LAB];
  return changed.filter((path) => !known.some((pattern) => pattern.test(path)));
}

export const documentedChanges: RunningCheck = {
  name: 'in /etc only documented files differ from the image',
  run: async ({ host }, signal) => {
    const text = await onHost(host, ['ostree', 'admin', 'config-diff'], signal);
    const changed = changedIn(text);
    if (!changed.includes('sno-agents')) {
      throw new Failure('fatal', 'ostree does not list /etc/sno-agents', { found: text });
    }
    const others = undocumented(changed);
    if (others.length === 0) return;
    throw new Failure('fatal', 'other files of /etc differ', { found: others.join(', ') });
  },
};

/** What is written there before /var is mounted is not found again. systemd leaves an empty folder, `mnt`. */
export const emptyVar: RunningCheck = {
  name: "no file is below a deployment's own /var",
  run: async ({ host }, signal) => {
    for (const { path } of await deploymentsOf(host, signal)) {
      const files = ['find', `${path}/var`, '!', '-type', 'd'];
      const found = await onHost(host, files, signal);
      if (found === '') continue;
      throw new Failure('fatal', 'files are below the deployment itself', { found });
    }
  },
};
