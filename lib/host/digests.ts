import { run } from './command.ts';

const DEADLINE_MS = 10 * 60_000;

/**
 * SHA-256 (lower-case hex) of files, by path, computed by `sha256sum`: gigabytes are
 * hashed on another core, and the event loop goes on feeding the watchdog.
 */
export async function sha256OfFiles(
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  if (paths.length === 0) return new Map();
  // With --zero, names are printed as they are, whatever is in them.
  const output = await run('sha256sum', ['--binary', '--zero', '--', ...paths], {
    signal,
    deadlineMs: DEADLINE_MS,
  });
  return new Map(
    output
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
}
