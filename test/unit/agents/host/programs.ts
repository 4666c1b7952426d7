import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** What steps call and what must never run on the machine that tests: each fails unless a test gives it. */
const GUARDED = [
  ...['blkid', 'bootlist', 'coreos-installer', 'ctr', 'curl', 'efibootmgr', 'ip', 'journalctl'],
  ...['lsblk', 'mount', 'reboot', 'sync', 'systemctl', 'systemd-run', 'udevadm', 'umount'],
];

/** The exit code of a program that no test told what to do. */
const UNEXPECTED = 97;

/**
 * Programs before all others in PATH, until the test ends: small shell scripts that write down
 * how they are called. `$ROOT` in a script is the root of the host.
 */
export class FakePrograms {
  readonly #folder: string;
  readonly #root: string;
  readonly #log: string;
  readonly #scripts = new Map<string, string>();

  constructor(t: Test, folder: string, root: string, others?: 'real') {
    this.#folder = folder;
    this.#root = root;
    this.#log = join(folder, '.calls');
    mkdirSync(folder, { recursive: true });
    appendFileSync(this.#log, '');
    for (const name of others === 'real' ? [] : GUARDED) {
      this.give(name, `echo "unexpected: ${name} $*" >&2; exit ${UNEXPECTED}`);
    }
    const before = process.env.PATH;
    process.env.PATH = `${folder}:${before}`;
    t.teardown(() => {
      process.env.PATH = before;
    });
  }

  /** Lets a program do that; a later script replaces an earlier one. */
  give(name: string, script: string): void {
    this.#scripts.set(name, script);
    const record = `printf '%s\\n' "${name} $*" >> '${this.#log}'`;
    const text = `#!/bin/sh\nROOT='${this.#root}'\n${record}\n${script}\n`;
    writeFileSync(join(this.#folder, name), text, { mode: 0o755 });
  }

  /** Has a program do something else in one case: `only` is before its own script. */
  unless(name: string, only: string): void {
    this.give(name, `${only}\n${this.#scripts.get(name) ?? ''}`);
  }

  /** Every call so far as its command line, in order. */
  calls(name = ''): string[] {
    const lines = readFileSync(this.#log, 'utf8').split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith(name));
  }

  /** Forgets the calls so far. */
  forgetCalls(): void {
    writeFileSync(this.#log, '');
  }
}
