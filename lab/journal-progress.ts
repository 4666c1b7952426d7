import { watch } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

const TAIL_BYTES = 8192;

/**
 * Reports the newest line of a journal file written by one of these units, each time the file
 * grows. Returns the function that ends it.
 */
export function reportJournal(
  journalLog: string,
  units: readonly string[],
  report: (line: string) => void,
): () => void {
  const line = new RegExp(`(?:${units.join('|')})\\[\\d+\\]: (.*)$`);
  let busy = false;
  let reported: string | undefined;
  const look = async () => {
    if (busy) return;
    busy = true;
    try {
      const message = (await readTail(journalLog))
        .split('\n')
        .findLast((entry) => line.test(entry));
      if (message === undefined || message === reported) return;
      reported = message;
      report(line.exec(message)?.[1] ?? '');
    } finally {
      busy = false;
    }
  };
  const watcher = watch(dirname(journalLog), () => void look().catch(() => undefined));
  return () => watcher.close();
}

async function readTail(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const position = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(TAIL_BYTES), position });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
