import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { redact } from '../../lib/base/log/redact.ts';
import type { Surroundings } from '../surroundings.ts';
import { asBadPath } from './bad-path.ts';
import { writtenLine } from './json-result.ts';

/** As in openshift-install, the most detailed one first. */
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LEVELS)[number];

/** In the folder of an installation, beside install-config.yaml. */
export const LOG_NAME = '.sno.log';

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_LINE_CHARACTERS = 8192;
/** Never through a symlink, nor into a FIFO without a reader. */
const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK;

/**
 * The log of all output of `sno` about an installation: mode 0600, no secrets, at
 * most 1 MiB and as much again in `.sno.log.1`. Lines are held back until `begin`,
 * since a command that refuses its input writes nothing.
 */
export class LogFile {
  readonly #path: string;
  #held: string[] = [];
  #file: number | undefined;
  #begun = false;

  constructor(folder: string) {
    this.#path = join(folder, LOG_NAME);
  }

  add(level: Level, message: string, now = new Date()): void {
    const text = redact(message).slice(0, MAX_LINE_CHARACTERS);
    this.#held.push(`time="${now.toISOString()}" level=${level} msg=${JSON.stringify(text)}\n`);
    if (this.#begun) this.#flush();
  }

  /**
   * Writes the lines held back, and from then on each line at once. A failure to
   * write the log does not stop the command.
   */
  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    try {
      this.#file = openLog(this.#path);
      this.#flush();
    } catch {
      this.end();
    }
  }

  end(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #flush(): void {
    const text = this.#held.join('');
    this.#held = [];
    if (this.#file === undefined) return;
    try {
      writeSync(this.#file, text);
    } catch {
      this.end();
    }
  }
}

function openLog(path: string): number {
  const file = openSync(path, FLAGS, 0o600);
  const stats = fstatSync(file);
  if (!stats.isFile()) {
    closeSync(file);
    throw new Error('not a regular file');
  }
  if (stats.size < MAX_FILE_BYTES) {
    fchmodSync(file, 0o600);
    return file;
  }
  closeSync(file);
  renameSync(path, `${path}.1`);
  return openSync(path, FLAGS | constants.O_EXCL, 0o600);
}

/** Runs a command on the folder of an installation, and logs its output and its failure there. */
export async function logged(
  folder: string,
  surroundings: Surroundings,
  work: (surroundings: Surroundings, log: LogFile) => Promise<void>,
): Promise<void> {
  const log = new LogFile(folder);
  const print = (line: string) => {
    log.add('info', line);
    surroundings.print(line);
  };
  const wrote = (path: string, note?: string) => {
    log.add('info', writtenLine(path, note));
    surroundings.wrote(path, note);
  };
  const notice = (text: string) => {
    log.add('warn', text);
    surroundings.notice(text);
  };
  try {
    await work({ ...surroundings, print, wrote, notice }, log);
    log.begin();
  } catch (thrown) {
    const error = asBadPath(thrown);
    const { signal } = surroundings;
    log.add('error', describeError(signal.aborted ? signal.reason : error));
    if (!(error instanceof Failure) || error.kind !== 'usage') log.begin();
    throw error;
  } finally {
    log.end();
  }
}
