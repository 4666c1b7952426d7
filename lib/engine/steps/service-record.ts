import { z } from 'zod';
import { describeError, type Failure } from '../../base/errors/failure.ts';
import { failureData, failureDataSchema } from '../../base/errors/failure-data.ts';
import { parseJson } from '../../base/json.ts';
import { readTextIfReadable, writeFileAtomic } from '../../host/files.ts';

const recordSchema = z.array(
  z.object({
    timestamp: z.string(),
    phase: z.enum(['service start', 'service end', 'stage start', 'stage end']),
    result: z.enum(['success', 'failure']).optional(),
    stage: z.string().optional(),
    errorLine: z.string().optional(),
    errorMessage: z.string().optional(),
    /** An extension; the installer's reader ignores it. */
    failure: failureDataSchema.optional(),
  }),
);

export type ServiceRecordEntry = z.infer<typeof recordSchema>[number];

/**
 * `/var/log/openshift/<unit>.json`: an array of entries, as written by the
 * installer's `bootstrap-service-record.sh` and read by `openshift-install
 * analyze`. Times are true UTC. A file that does not parse is replaced, since a
 * damaged record must not prevent a service from starting.
 */
export class ServiceRecord {
  readonly #path: string;
  #tail: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  serviceStart(): Promise<void> {
    return this.#add({ phase: 'service start' });
  }

  serviceEnd(failure?: Failure): Promise<void> {
    return this.#add({ phase: 'service end', ...result(failure) });
  }

  stageStart(stage: string): Promise<void> {
    return this.#add({ phase: 'stage start', stage });
  }

  stageEnd(stage: string, failure?: Failure): Promise<void> {
    return this.#add({ phase: 'stage end', stage, ...result(failure) });
  }

  #add(entry: Omit<ServiceRecordEntry, 'timestamp'>): Promise<void> {
    const timestamp = `${new Date().toISOString().slice(0, 19)}Z`;
    this.#tail = this.#tail
      .then(() => this.#rewrite({ timestamp, ...entry }))
      .catch(() => {
        // A full /var/log must not fail an installation; the step journal has the same facts.
      });
    return this.#tail;
  }

  async #rewrite(entry: ServiceRecordEntry): Promise<void> {
    const entries =
      recordSchema.safeParse(parseJson((await readTextIfReadable(this.#path)) ?? '')).data ?? [];
    await writeFileAtomic(this.#path, `${JSON.stringify([...entries, entry], null, 2)}\n`, 0o644);
  }
}

function result(
  failure: Failure | undefined,
): Pick<ServiceRecordEntry, 'result' | 'errorMessage' | 'failure'> {
  if (failure === undefined) return { result: 'success' };
  const errorMessage = describeError(failure);
  return { result: 'failure', errorMessage, failure: failureData(failure) };
}
