import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { holds, waitUntil } from '../../lib/base/wait/wait-until.ts';
import { exists } from '../../lib/host/files.ts';
import { type Background, startInBackground } from './background.ts';
import type { Teardown } from './teardown.ts';

/** A host that has not begun to write its journal by then has not booted. */
const FLUSHED_MS = 60 * 60_000;

export interface JournalSource {
  readonly root: string;
  readonly journalLog: string;
}

/**
 * Copies a host's journal to a file while it runs, so that it survives a power cut and the end
 * of a live host.
 */
export function followJournal(
  { root, journalLog }: JournalSource,
  teardown: Teardown,
): { start(leader: number): void } {
  const stop = new AbortController();
  let reader: Background | undefined;
  const begin = async (leader: number) => {
    const folder = join(root, 'var/log/journal');
    // A reader of an earlier boot's file misses that journald opens it again.
    const flushed = `/proc/${leader}/root/run/systemd/journal/flushed`;
    const state = 'the journal is not on the disk yet';
    await waitUntil(
      holds(() => exists(flushed), state),
      {
        signal: stop.signal,
        deadlineMs: FLUSHED_MS,
        everyMs: 200,
        late: () => new Failure('deadline', state),
      },
    );
    const options = ['--follow', '--no-tail', '--no-hostname', '--output=short-iso-precise'];
    // journalctl exits at once if the journal's file exists but not yet the boot's first entry.
    while (!stop.signal.aborted) {
      reader = startInBackground('journalctl', ['--directory', folder, ...options], journalLog);
      await reader.ended;
      await sleep(200, undefined, { signal: stop.signal });
    }
  };
  teardown.add('stop reading the journal', async () => {
    stop.abort();
    reader?.child.kill('SIGTERM');
    await reader?.ended;
  });
  return {
    start: (leader) => {
      // Stopped by the teardown while still waiting for the journal to appear.
      begin(leader).catch(() => undefined);
    },
  };
}
