import { constants } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { standardOutput } from '../../lib/base/command-line.ts';
import { EXIT, type ExitCode } from '../../lib/base/errors/exit-codes.ts';
import { namesIn, readTextIfPresent } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { SHOWN_SECONDS, type Signal } from './signal.ts';

/** Of the kernel's sound, by `man 4 console_codes`: frequency in Hz, duration in ms. */
interface Beep {
  readonly hertz: number;
  readonly ms: number;
}

interface Shown {
  readonly beeps: readonly Beep[];
  readonly lights: 'none' | 'on' | 'blinking';
}

const HIGH = { hertz: 1500, ms: 150 };
const LOW = { hertz: 300, ms: 1200 };
const SIGNALS: Readonly<Record<Signal, Shown>> = {
  accepted: { beeps: [HIGH], lights: 'none' },
  pass: { beeps: [HIGH, HIGH, HIGH], lights: 'on' },
  fail: { beeps: [LOW, LOW, LOW], lights: 'blinking' },
};
const PAUSE_MS = 200;
const BLINK_MS = 500;

const LIGHTS = '/sys/class/leds';
/** The lights of keyboards, and those that a chassis has for a person beside it, by the kernel's names (leds-class). */
const FOR_PEOPLE = /:(numlock|capslock|scrolllock|locate|identify|indicator|status|fault)$/;
const SPEAKER = '/dev/tty1';

/** How long it is shown, how time passes, and where it is said. */
export interface Showing {
  readonly shownMs: number;
  /** Rejects when the signal is replaced by the next one. */
  readonly pause: (ms: number) => Promise<void>;
  readonly write: (text: string) => void;
}

/**
 * `reconfigure signal accepted|pass|fail`, `reconfigure signal ports NAME...`: shows a signal with what the host has, and leaves
 * its lights as they were. Run by `signal.ts` in a unit of its own. Says what it was shown with.
 */
export async function runSignal(
  paths: HostPaths,
  [name = '', ...ports]: readonly string[],
  showing = untilReplaced(),
): Promise<ExitCode> {
  if (name === 'ports') {
    showing.write(said(name, ports));
    await blinkPorts(ports, showing);
    return EXIT.done;
  }
  const [, shown] = Object.entries(SIGNALS).find(([each]) => each === name) ?? [];
  if (shown === undefined) return EXIT.usage;
  const { beeps, lights } = shown;
  const speakers = await beep(paths, beeps, showing);
  const lit = lights === 'none' ? [] : await lightsOf(paths);
  const by = [...speakers, ...lit.map((path) => basename(dirname(path)))];
  showing.write(said(name, by));
  if (lights === 'none') return EXIT.done;
  // Where the host has a service processor and its program.
  await program('ipmitool', ['chassis', 'identify', seconds(showing)]);
  await light(lit, lights, showing);
  return EXIT.done;
}

const seconds = ({ shownMs }: Showing): string => `${Math.ceil(shownMs / 1000)}`;

const said = (name: string, by: readonly string[]): string =>
  `Signal "${name}": ${by.length === 0 ? 'nothing to show it by' : by.join(', ')}\n`;

/** What has no light says so, and is left. */
async function blinkPorts(ports: readonly string[], showing: Showing): Promise<void> {
  await Promise.all(
    ports.map((port) => program('ethtool', ['--identify', port, seconds(showing)])),
  );
}

async function program(name: string, args: readonly string[]): Promise<void> {
  const timeout = (SHOWN_SECONDS + 10) * 1000;
  await execa(name, [...args], { timeout, reject: false, stdio: 'ignore' });
}

/** By the console of the kernel, which sounds the bell of the machine where there is one. */
async function beep(
  paths: HostPaths,
  beeps: readonly Beep[],
  { pause }: Showing,
): Promise<string[]> {
  try {
    // It neither waits for a console that is stopped, nor becomes the terminal of this process.
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    const speaker = await open(paths.at(SPEAKER), O_WRONLY | O_NONBLOCK | O_NOCTTY);
    try {
      for (const { hertz, ms } of beeps) {
        await speaker.write(`\u001b[10;${hertz}]\u001b[11;${ms}]\u0007`);
        await pause(ms + PAUSE_MS);
      }
      // As the kernel has it.
      await speaker.write('\u001b[10]\u001b[11]');
    } finally {
      await speaker.close();
    }
    return [SPEAKER];
  } catch {
    return [];
  }
}

async function lightsOf(paths: HostPaths): Promise<string[]> {
  const names = await namesIn(paths.at(LIGHTS));
  return names
    .filter((name) => FOR_PEOPLE.test(name))
    .map((name) => paths.at(`${LIGHTS}/${name}/brightness`));
}

async function light(
  lights: readonly string[],
  how: 'on' | 'blinking',
  { shownMs, pause }: Showing,
): Promise<void> {
  if (lights.length === 0) return;
  const before = await Promise.all(
    lights.map((path) => readTextIfPresent(path).catch(() => undefined)),
  );
  // The kernel takes what is more than a light's own maximum for that.
  const all = (value: string) => Promise.all(lights.map((path) => put(path, value)));
  try {
    for (let left = shownMs; left > 0; left -= 2 * BLINK_MS) {
      await all('255');
      await pause(how === 'on' ? shownMs : BLINK_MS);
      if (how === 'on') break;
      await all('0');
      await pause(BLINK_MS);
    }
  } catch {
    // It was stopped for the next signal.
  } finally {
    await Promise.all(lights.map((path, at) => put(path, before[at]?.trim() ?? '0')));
  }
}

const put = (path: string, value: string): Promise<void> =>
  writeFile(path, value, { flag: constants.O_WRONLY | constants.O_TRUNC }).catch(() => undefined);

function untilReplaced(): Showing {
  const stopped = new AbortController();
  process.once('SIGTERM', () => stopped.abort());
  return {
    shownMs: SHOWN_SECONDS * 1000,
    pause: (ms) => sleep(ms, undefined, { signal: stopped.signal }),
    write: standardOutput.write,
  };
}
