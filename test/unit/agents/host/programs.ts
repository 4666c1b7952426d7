import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/** Programs called by steps that must never run on the test machine: each fails unless a test defines it. */
const GUARDED = [
  ...['blkid', 'bootlist', 'coreos-installer', 'ctr', 'curl', 'efibootmgr', 'hostnamectl', 'ip'],
  ...[
    'journalctl',
    'lsblk',
    'mount',
    'nmcli',
    'reboot',
    'sync',
    'systemctl',
    'systemd-run',
    'udevadm',
    'umount',
  ],
];

/** The exit code of a program that the test has not defined. */
const UNEXPECTED = 97;

const unexpected = (name: string) => `echo "unexpected: ${name} $*" >&2; exit ${UNEXPECTED}`;

/** The folder of the guarded programs, which all hosts of this process share: hosts are many. */
let guardFolder = '';

function guards(): string {
  if (guardFolder !== '') return guardFolder;
  guardFolder = mkdtempSync(join(tmpdir(), 'sno-guards-'));
  process.on('exit', () => rmSync(guardFolder, { recursive: true, force: true }));
  for (const name of GUARDED) {
    // The first folder in PATH is that of the host's own programs.
    const record = `printf '%s\\n' "${name} $*" >> "\${PATH%%:*}/.calls"`;
    const text = `#!/bin/sh\n${record}\n${unexpected(name)}\n`;
    writeFileSync(join(guardFolder, name), text, { mode: 0o755 });
  }
  return guardFolder;
}

/**
 * Programs before all others in PATH until the test ends: small shell scripts that record their
 * calls. `$ROOT` in a script is the root of the host.
 */
export class FakePrograms {
  readonly #folder: string;
  readonly #root: string;
  readonly #log: string;
  readonly #isGuarded: boolean;
  readonly #scripts = new Map<string, string>();

  constructor(t: Test, folder: string, root: string, others?: 'real') {
    this.#folder = folder;
    this.#root = root;
    this.#log = join(folder, '.calls');
    mkdirSync(folder, { recursive: true });
    appendFileSync(this.#log, '');
    this.#isGuarded = others !== 'real';
    const before = process.env.PATH;
    process.env.PATH = [folder, ...(this.#isGuarded ? [guards()] : []), before].join(':');
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

  /** The host does not have it, unless this machine has. */
  remove(name: string): void {
    rmSync(join(this.#folder, name));
  }

  /** Makes a program behave differently in one case: `only` runs before its own script. */
  unless(name: string, only: string): void {
    this.give(name, `${only}\n${this.#scripts.get(name) ?? this.#guard(name)}`);
  }

  #guard(name: string): string {
    return this.#isGuarded && GUARDED.includes(name) ? unexpected(name) : '';
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
