import { z } from 'zod';
import {
  type FailureData,
  failureData,
  failureDataSchema,
} from '../../../lib/base/errors/failure-data.ts';
import { parseJson } from '../../../lib/base/json.ts';
import { recordPath } from '../../../lib/engine/agents/records.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done, type Outcome } from '../../../lib/engine/steps/step.ts';
import { readTextIfReadable, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import type { RenewContext } from '../../steps/certificates/context.ts';

const attemptSchema = z.object({
  /** Name of the certificate in the inventory. */
  name: z.string(),
  at: z.iso.datetime(),
  /** Of the run that made it: the time does not tell, since the clock may have been set. */
  run: z.string().optional(),
  failure: failureDataSchema.optional(),
});

const attemptsSchema = z.object({ schemaVersion: z.literal(1), attempts: z.array(attemptSchema) });

/** The last attempt at a certificate; without a failure it succeeded. */
export interface RenewalAttempt {
  readonly name: string;
  readonly at: string;
  readonly run?: string | undefined;
  readonly failure?: FailureData | undefined;
}

const attemptsPath = (paths: HostPaths) => recordPath(paths, 'renewals');

/** The last attempts, by certificate. A damaged file counts as none: everything is tried again. */
export async function readAttempts(paths: HostPaths): Promise<RenewalAttempt[]> {
  const text = await readTextIfReadable(attemptsPath(paths));
  const parsed = attemptsSchema.safeParse(parseJson(text ?? ''));
  return parsed.success ? parsed.data.attempts : [];
}

/** Records attempts, each in place of the last one at the same certificate. */
export async function recordAttempts(
  { paths, run }: Pick<RenewContext, 'paths' | 'run'>,
  results: readonly { readonly name: string; readonly error?: unknown }[],
): Promise<void> {
  const at = new Date().toISOString();
  const fresh = results.map(({ name, error }) => ({
    name,
    at,
    run,
    ...(error === undefined ? {} : { failure: failureData(error) }),
  }));
  const others = (await readAttempts(paths)).filter(
    ({ name }) => !results.some((result) => result.name === name),
  );
  const contents = { schemaVersion: 1, attempts: [...others, ...fresh] };
  await writeFileAtomic(attemptsPath(paths), `${JSON.stringify(contents, null, 2)}\n`, 0o600);
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
