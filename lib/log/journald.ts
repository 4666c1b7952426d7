import { existsSync, fstatSync } from 'node:fs';
import { execa } from 'execa';

const SOCKET = '/run/systemd/journal/socket';
/** It sends one datagram; it hangs only where journald does. */
const DEADLINE_MS = 5000;

/**
 * Whether standard output is a stream of journald's: JOURNAL_STREAM has its device and inode,
 * which a pipe that a unit's process gave to this one does not share (`man 5 systemd.exec`).
 */
export function writesToJournal(
  journalStream = process.env.JOURNAL_STREAM,
  stdout: { readonly dev: number; readonly ino: number } = fstatSync(1),
): boolean {
  return journalStream === `${stdout.dev}:${stdout.ino}`;
}

/**
 * Writes entries with fields into the journal. Node has no unix datagrams, so `logger` of
 * util-linux does, one process an entry. After the first that fails none is tried any more:
 * what does not answer must not hold every event up.
 */
export class JournaldWriter {
  readonly #socket: string;
  #works = true;

  constructor(socket = SOCKET) {
    this.#socket = socket;
  }

  /** Whether the entry was written: lines `NAME=value`. */
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
