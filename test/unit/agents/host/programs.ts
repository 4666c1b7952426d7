import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** Programs called by steps that must never run on the test machine: each fails unless a test defines it. */
const GUARDED = [
  ...['blkid', 'bootlist', 'coreos-installer', 'ctr', 'curl', 'efibootmgr', 'ip', 'journalctl'],
  ...['lsblk', 'mount', 'reboot', 'sync', 'systemctl', 'systemd-run', 'udevadm', 'umount'],
];

/** The exit code of a program that the test has not defined. */
const UNEXPECTED = 97;

/**
 * Programs before all others in PATH until the test ends: small shell scripts that record their
 * calls. `$ROOT` in a script is the root of the host.
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

  /** Defines a program; a later script replaces an earlier one. */
  give(name: string, script: string): void {
    this.#scripts.set(name, script);
    const record = `printf '%s\\n' "${name} $*" >> '${this.#log}'`;
    const text = `#!/bin/sh\nROOT='${this.#root}'\n${record}\n${script}\n`;
    writeFileSync(join(this.#folder, name), text, { mode: 0o755 });
  }

  /** Makes a program behave differently in one case: `only` runs before its own script. */
  unless(name: string, only: string): void {
    this.give(name, `${only}\n${this.#scripts.get(name) ?? ''}`);
  }

  /** The command lines of all calls so far, in order. */
  calls(name = ''): string[] {
    const lines = readFileSync(this.#log, 'utf8').split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith(name));
  }

  /** Clears the recorded calls. */
  forgetCalls(): void {
    writeFileSync(this.#log, '');
  }
}
