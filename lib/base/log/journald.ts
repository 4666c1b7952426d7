import { existsSync, fstatSync } from 'node:fs';
import { execa } from 'execa';

const SOCKET = '/run/systemd/journal/socket';
/** It sends one datagram; it hangs only if journald does. */
const DEADLINE_MS = 5000;

/**
 * Whether standard output is a stream of journald: JOURNAL_STREAM has its device
 * and inode, unlike a pipe inherited from a process of the unit (`man 5
 * systemd.exec`).
 */
export function writesToJournal(
  journalStream = process.env.JOURNAL_STREAM,
  stdout: { readonly dev: number; readonly ino: number } = fstatSync(1),
): boolean {
  return journalStream === `${stdout.dev}:${stdout.ino}`;
}

/**
 * Writes entries with fields into the journal. Node has no unix datagram sockets,
 * so `logger` of util-linux does, one process per entry. After the first failure no
 * more are tried: an unresponsive journal must not delay every event.
 */
export class JournaldWriter {
  readonly #socket: string;
  #works = true;

  constructor(socket = SOCKET) {
    this.#socket = socket;
  }

  /** Writes lines of the form `NAME=value`; returns whether that succeeded. */
  async send(entry: string): Promise<boolean> {
    // logger exits 0 even if nothing reads the socket.
    this.#works &&= existsSync(this.#socket);
    if (!this.#works) return false;
    const { failed } = await execa('logger', ['--journald'], {
      input: entry,
      stdout: 'ignore',
      stderr: 'ignore',
      timeout: DEADLINE_MS,
      reject: false,
    });
    this.#works = !failed;
    return this.#works;
  }
}
