import { createWriteStream } from 'node:fs';
import { access, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { execa } from 'execa';
import { NotRunHere } from '../benchmark.ts';
import { logLines } from './lines.ts';

/** Writes journal files from journald's export format. */
const JOURNAL_REMOTE = '/lib/systemd/systemd-journal-remote';
/** Approximate size of an entry in a journal file, in bytes. */
const ENTRY_BYTES = 620;
const ENTRIES_A_CHUNK = 500;
const LOG_FILES = 8;
const BEGIN_US = 1_773_300_000_000_000;
const BOOT = '5f2b1c0d9e8a47f6b3c2d1e0f9a8b7c6';
const MACHINE = '0a1b2c3d4e5f60718293a4b5c6d7e8f9';

export interface GatherData {
  /** Folder of journal files. */
  readonly journals: string;
  /** Folder of container logs. */
  readonly logs: string;
  readonly journalBytes: number;
  readonly logBytes: number;
}

/** @throws NotRunHere without the program that writes journal files. */
export async function expectJournalRemote(): Promise<void> {
  await access(JOURNAL_REMOTE).catch(() => {
    throw new NotRunHere(`${JOURNAL_REMOTE} is missing (Debian package systemd-journal-remote)`);
  });
}

/** Journal files and logs of approximately that many bytes on disk each. */
export async function makeData(
  folder: string,
  bytes: number,
  signal: AbortSignal,
): Promise<GatherData> {
  const [journals, logs] = [join(folder, 'journals'), join(folder, 'logs')];
  await mkdir(journals);
  await mkdir(logs);
  const entries = Math.ceil(bytes / ENTRY_BYTES);
  await execa(JOURNAL_REMOTE, ['--output', join(journals, 'node.journal'), '-'], {
    input: Readable.from(journalExport(entries)),
    cancelSignal: signal,
    stdout: 'ignore',
    stderr: 'ignore',
  });
  for (let at = 0; at < LOG_FILES; at++) {
    const file = createWriteStream(join(logs, `container-${at}.log`));
    await pipeline(Readable.from(containerLog(at, bytes / LOG_FILES)), file, { signal });
  }
  return {
    journals,
    logs,
    journalBytes: await bytesIn(journals),
    logBytes: await bytesIn(logs),
  };
}

/** systemd's journal export format: one field per line, an empty line after each entry. */
function* journalExport(entries: number): Generator<string> {
  const lines = logLines(1);
  for (let begun = 0; begun < entries; begun += ENTRIES_A_CHUNK) {
    let chunk = '';
    for (let at = begun; at < begun + ENTRIES_A_CHUNK; at++) {
      const { unit, priority, text } = lines.next().value;
      chunk += `__REALTIME_TIMESTAMP=${BEGIN_US + at * 500}\n__MONOTONIC_TIMESTAMP=${at * 500}\n_BOOT_ID=${BOOT}\n_MACHINE_ID=${MACHINE}\n_HOSTNAME=node\n_SYSTEMD_UNIT=${unit}.service\nSYSLOG_IDENTIFIER=${unit}\n_PID=${1000 + unit.length}\n_UID=0\n_TRANSPORT=stdout\nPRIORITY=${priority}\nMESSAGE=${text}\n\n`;
    }
    yield chunk;
  }
}

/** In the format of a container runtime. */
function* containerLog(file: number, bytes: number): Generator<string> {
  const lines = logLines(file + 2);
  for (let written = 0, at = 0; written < bytes; ) {
    let chunk = '';
    for (let count = 0; count < ENTRIES_A_CHUNK; count++, at++) {
      const moment = new Date(BEGIN_US / 1000 + at).toISOString().replace('Z', '000000Z');
      chunk += `${moment} stdout F ${lines.next().value.text}\n`;
    }
    written += chunk.length;
    yield chunk;
  }
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder)) bytes += (await stat(join(folder, name))).size;
  return bytes;
}
