import { z } from 'zod';
import {
  type FailureData,
  failureData,
  failureDataSchema,
} from '../../../lib/base/errors/failure-data.ts';
import { recordPath } from '../../../lib/engine/agents/records.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done, type Outcome } from '../../../lib/engine/steps/step.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { stateFile } from '../../../lib/host/state-file.ts';
import type { RenewContext } from '../../steps/certificates/context.ts';

const attemptSchema = z.object({
  /** Name of the certificate in the inventory. */
  name: z.string(),
  at: z.iso.datetime(),
  /** Of the run that made it: the time does not tell, since the clock may have been set. */
  run: z.string().optional(),
  failure: failureDataSchema.optional(),
  /** The attempt has begun to change files whose reader must be restarted, and has not ended. */
  restartDue: z.literal(true).optional(),
});

const attemptsSchema = z.object({ schemaVersion: z.literal(1), attempts: z.array(attemptSchema) });

/** The last attempt at a certificate; without a failure it succeeded. */
export interface RenewalAttempt {
  readonly name: string;
  readonly at: string;
  readonly run?: string | undefined;
  readonly failure?: FailureData | undefined;
  readonly restartDue?: true | undefined;
}

const file = (paths: HostPaths) =>
  stateFile(recordPath(paths, 'renewals'), attemptsSchema, { damaged: 'none', isIndented: true });

/** The last attempts, by certificate. A damaged file counts as none: everything is tried again. */
export const readAttempts = async (paths: HostPaths): Promise<RenewalAttempt[]> =>
  (await file(paths).read())?.attempts ?? [];

/** Records attempts, each in place of the last one at the same certificate. */
export async function recordAttempts(
  { paths, run }: Pick<RenewContext, 'paths' | 'run'>,
  results: readonly { readonly name: string; readonly error?: unknown }[],
): Promise<void> {
  const at = new Date().toISOString();
  await replaceAttempts(
    paths,
    results.map(({ name, error }) => ({
      name,
      at,
      run,
      ...(error === undefined ? {} : { failure: failureData(error) }),
    })),
  );
}

/**
 * Records that files are about to change whose reader must be restarted, until the attempt is recorded: a run
 * that is killed in between leaves nothing else by which the next one could tell.
 */
export async function recordRestartDue(paths: HostPaths, name: string): Promise<void> {
  await replaceAttempts(paths, [{ name, at: new Date().toISOString(), restartDue: true }]);
}

async function replaceAttempts(paths: HostPaths, fresh: readonly RenewalAttempt[]): Promise<void> {
  const others = (await readAttempts(paths)).filter(
    ({ name }) => !fresh.some((attempt) => attempt.name === name),
  );
  await file(paths).write({ schemaVersion: 1, attempts: [...others, ...fresh] });
}

/** Does a part of a run and records the attempt: a failure does not keep the other parts from running. */
export async function attempted(
  context: RenewContext,
  name: string,
  body: () => Promise<string>,
  { signal }: Progress,
): Promise<Outcome> {
  try {
    const note = await body();
    await recordAttempts(context, [{ name }]);
    return done(note);
  } catch (error) {
    signal.throwIfAborted();
    await recordAttempts(context, [{ name, error }]);
    return done('failed');
  }
}
