import { run } from '../../lib/host/command.ts';
import { HARDENED } from '../../lib/host/outside-sandbox.ts';
import type { HostPaths } from '../../lib/host/paths.ts';

/*
 * Signals for a person without a screen: beeps, lights of the keyboard and the chassis, the light of a port. They are a
 * courtesy: most hosts have only some of them, nothing waits for them, and nothing fails without them.
 */

/** What a person is told: the volume is read; the site's configuration stays; it failed. */
export type Signal = 'accepted' | 'pass' | 'fail';

/** As long as somebody who was told to wait may look at it. */
export const SHOWN_SECONDS = 600;
const START_MS = 5_000;

/** Only these devices, and the lights below /sys. */
const SANDBOX = [
  'SyslogIdentifier=sno-signal',
  ...HARDENED,
  'DeviceAllow=/dev/tty1 w',
  'DeviceAllow=/dev/ipmi0 rw',
  // ethtool turns on the light of a port.
  'CapabilityBoundingSet=CAP_NET_ADMIN',
  'PrivateTmp=yes',
  `RuntimeMaxSec=${SHOWN_SECONDS + 60}`,
].map((property) => `--property=${property}`);

/** Shows it in place of an earlier one, in a unit of its own. */
export async function showSignal(paths: HostPaths, signal: Signal): Promise<void> {
  const limits = { signal: AbortSignal.timeout(START_MS), deadlineMs: START_MS };
  await run('systemctl', ['stop', 'sno-signal.service'], limits).catch(() => undefined);
  await start(paths, 'sno-signal', [signal]);
}

/** Lets the lights of ports blink, while an earlier signal goes on. */
export async function showPorts(paths: HostPaths, ports: readonly string[]): Promise<void> {
  await start(paths, 'sno-signal-ports', ['ports', ...ports]);
}

async function start(paths: HostPaths, unit: string, args: readonly string[]): Promise<void> {
  const command = ['--', paths.onHost(paths.executable), 'reconfigure', 'signal', ...args];
  const options = [`--unit=${unit}`, '--no-block', '--collect', '--quiet', ...SANDBOX];
  const limits = { signal: AbortSignal.timeout(START_MS), deadlineMs: START_MS };
  await run('systemd-run', [...options, ...command], limits).catch(() => undefined);
}
