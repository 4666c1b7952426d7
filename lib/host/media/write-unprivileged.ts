import { execa } from 'execa';
import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { parseJson } from '../../base/json.ts';
import type { Limits } from '../../base/wait/limits.ts';
import type { HostPaths } from '../paths.ts';
import type { Medium } from './find-media.ts';
import type { Overwritten } from './in-place/overwrite.ts';
import { unprivileged } from './unprivileged.ts';

const passedSchema = z.array(z.object({ name: z.string(), mark: z.string(), text: z.string() }));

/**
 * Overwrites files of a medium where they lie (in-place/overwrite.ts), in a process without rights.
 *
 * @throws Failure (retry) if the medium is read-only, has no room for them, or is gone
 */
export async function overwriteMedium(
  paths: HostPaths,
  medium: Medium,
  files: readonly Overwritten[],
  time: Limits,
): Promise<void> {
  const { exitCode, stderr } = await execa(
    'systemd-run',
    await unprivileged(paths, 'write-medium', medium, time),
    {
      cancelSignal: time.signal,
      timeout: time.deadlineMs,
      input: passedText(files),
      reject: false,
    },
  );
  if (exitCode === 0) return;
  const said = stderr.trim().split('\n').at(-1) ?? '';
  throw new Failure('retry', `nothing was written to the medium ${medium.label}`, {
    code: 'medium-refused',
    found: said === '' ? `its writer ended with ${exitCode ?? 'a signal'}` : said.slice(0, 400),
  });
}

export const passedText = (files: readonly Overwritten[]): string =>
  JSON.stringify(files.map(({ name, mark, contents }) => ({ name, mark, text: `${contents}` })));

/** What the process receives on standard input. */
export const passedFiles = (text: string): Overwritten[] =>
  passedSchema
    .parse(parseJson(text))
    .map(({ name, mark, text }) => ({ name, mark, contents: Buffer.from(text) }));
