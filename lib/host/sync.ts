import { run } from './command.ts';
import { exists } from './files.ts';

const DEADLINE_MS = 300_000;

/** Makes everything durable that is on the file systems of these folders; missing folders are skipped. */
export async function syncFileSystems(
  folders: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const found: string[] = [];
  for (const folder of folders) if (await exists(folder)) found.push(folder);
  await run('sync', ['--file-system', ...found], { signal, deadlineMs: DEADLINE_MS });
}
