import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { printableLines } from '../../base/printable.ts';
import { readTextIfPresent } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';

const ACTIVE = '/sys/class/tty/console/active';
/** Where a person with a screen looks, also on a host whose kernel was told of a serial console only. */
const SCREEN = 'tty1';
/** The screen that is shown now, whichever it is. */
const SHOWN = 'tty0';

/** Writes a text where it can be written at once. */
export interface Consoles {
  readonly write: (text: string) => void;
  readonly close: () => void;
}

/**
 * The consoles of this host besides `/dev/console`, which is only the last one of the kernel's command line: a technician has a
 * screen or a serial cable, whatever the host was told. One that is stopped (flow control) loses what it has no room
 * for; nothing waits for it.
 */
export async function otherConsoles(paths: HostPaths): Promise<Consoles> {
  const open = (await namesOf(paths)).flatMap((name) => opened(paths.at(`/dev/${name}`)) ?? []);
  return {
    write: (text) => {
      for (const console of open) attempt(() => writeSync(console, printableLines(text)));
    },
    close: () => {
      for (const console of open) attempt(() => closeSync(console));
    },
  };
}

async function namesOf(paths: HostPaths): Promise<string[]> {
  const text = await readTextIfPresent(paths.at(ACTIVE)).catch(() => undefined);
  const active = text?.trim().split(/\s+/) ?? [];
  // The last one is /dev/console.
  const others = active.slice(0, -1).filter((name) => /^[A-Za-z]\w*$/.test(name));
  return active.includes(SHOWN) || active.includes(SCREEN) ? others : [SCREEN, ...others];
}

/** Neither waits for a modem, nor becomes the terminal of this process. */
const opened = (path: string): number | undefined =>
  attempt(() => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY));

function attempt<Value>(effect: () => Value): Value | undefined {
  try {
    return effect();
  } catch {
    return undefined;
  }
}
