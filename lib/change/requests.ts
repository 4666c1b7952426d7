import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { Failure } from '../base/errors/failure.ts';
import type { FailureData } from '../base/errors/failure-data.ts';
import { parseJson } from '../base/json.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';

/** How a request ended. */
type Ended<Outcome> = { readonly endedAt: string; readonly outcome: Outcome };

/** Where the requests of one kind are, and what they look like. */
interface Kind<Request, Outcome extends string> {
  readonly requestPath: (paths: HostPaths) => string;
  readonly resultPath: (paths: HostPaths) => string;
  readonly request: z.ZodType<Request>;
  readonly result: z.ZodType<Request & Ended<Outcome>>;
  /** For messages. */
  readonly writtenBy: string;
}

/** The one request of a kind that is under way on a host, and how the last one ended. */
export function requestsOf<
  Request extends { readonly failure?: FailureData | undefined },
  Outcome extends string,
>({ requestPath, resultPath, request: schema, result, writtenBy }: Kind<Request, Outcome>) {
  /** @throws Failure (fatal) if the file is damaged. */
  async function readRequest(paths: HostPaths): Promise<Request | undefined> {
    const text = await readTextIfPresent(requestPath(paths));
    if (text === undefined) return undefined;
    const parsed = schema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    throw new Failure('fatal', `${requestPath(paths)} cannot be used`, {
      expected: `a request as "${writtenBy}" writes it`,
      found: z.prettifyError(parsed.error),
    });
  }

  async function writeRequest(paths: HostPaths, request: Request): Promise<void> {
    await mkdir(dirname(requestPath(paths)), { recursive: true, mode: 0o700 });
    await writeFileAtomic(requestPath(paths), `${JSON.stringify(request)}\n`, 0o600);
  }

  return {
    readRequest,
    writeRequest,

    /** The last one that ended. */
    async readResult(paths: HostPaths): Promise<(Request & Ended<Outcome>) | undefined> {
      return result.safeParse(parseJson((await readTextIfPresent(resultPath(paths))) ?? '')).data;
    },

    /** Records why it failed before anything was changed; the first reason is kept. */
    async recordFailure(paths: HostPaths, failure: FailureData): Promise<void> {
      const request = await readRequest(paths);
      if (request === undefined || request.failure !== undefined) return;
      await writeRequest(paths, { ...request, failure });
    },

    /** Ends it. The result is written first: whoever waits for the end reads it. */
    async endRequest(
      paths: HostPaths,
      outcome: Outcome,
      failure: FailureData | undefined,
    ): Promise<void> {
      const request = await readRequest(paths);
      if (request === undefined) return;
      const ended: Request & Ended<Outcome> = {
        ...request,
        ...(failure === undefined ? {} : { failure }),
        endedAt: new Date().toISOString(),
        outcome,
      };
      await writeFileAtomic(resultPath(paths), `${JSON.stringify(ended)}\n`, 0o600);
      await removeFile(requestPath(paths));
    },
  };
}
