import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Background, startInBackground } from './background.ts';
import type { Teardown } from './teardown.ts';

export interface JournalSource {
  readonly root: string;
  readonly journalLog: string;
}

/**
 * Copies a host's journal into a file while it runs, so that it survives a power
 * cut and the end of a live host.
 */
export function followJournal(
  { root, journalLog }: JournalSource,
  teardown: Teardown,
): { start(): void } {
  const stop = new AbortController();
  let reader: Background | undefined;
  const begin = async () => {
    const folder = join(root, 'var/log/journal');
    while ((await readdir(folder).catch(() => [])).length === 0) {
      await sleep(200, undefined, { signal: stop.signal });
    }
    const options = ['--follow', '--no-tail', '--no-hostname', '--output=short-iso-precise'];
    // It ends at once where the journal's file is there and the boot's first line is not.
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
    start: () => {
      // Ended by the teardown while it still waits for the journal to appear.
      begin().catch(() => undefined);
    },
  };
}
