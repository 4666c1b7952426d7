import { type OutputOptions, output, type ProgramCall } from '../../../lib/host/program-output.ts';
import type { Source } from '../source.ts';

/** Defaults of a source; the catalogue states only differences. */
export const usual = {
  format: 'text',
  phase: 'diagnosis',
  deadlineMs: 10_000,
  limitBytes: 4 << 20,
  keep: 'newest',
} as const satisfies Partial<Source>;

export type Differences = Partial<
  Pick<Source, 'format' | 'phase' | 'deadlineMs' | 'limitBytes' | 'keep' | 'gzipped' | 'givesWay'>
>;

/** A source made of a stream alone. */
export const stream = (
  path: string,
  open: Source['open'],
  differences: Differences = {},
): Source => ({ ...usual, ...differences, path, open });

export interface CommandSource extends Source {
  readonly program: string;
}

/** The output of a program. If it is missing or fails, that is the source's failure. */
export function command(
  path: string,
  call: ProgramCall,
  { accepts = [0], bothStreams = false, ...differences }: Differences & OutputOptions = {},
): CommandSource {
  return {
    ...usual,
    ...differences,
    path,
    program: call[0],
    open: (_, signal) => output(call, signal, { accepts, bothStreams }),
  };
}
