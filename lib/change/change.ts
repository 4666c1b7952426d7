import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { Failure } from '../base/errors/failure.ts';
import type { FailureData } from '../base/errors/failure-data.ts';
import { parseJson } from '../base/json.ts';
import { type AgentRecord, recordPath } from '../engine/agents/records.ts';
import {
  readTextIfPresent,
  readTextIfReadable,
  removeFile,
  writeFileAtomic,
} from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';

type State = Pick<HostPaths, 'state'>;

/** What one kind of change on request is, besides the steps that carry it out. */
interface Description<Request, Result> {
  /** The request while it is under way, and the result of the last one, in the table of records. */
  readonly records: { readonly request: AgentRecord; readonly result: AgentRecord };
  readonly request: z.ZodType<Request>;
  readonly result: z.ZodType<Result>;
  /** The command that writes the request, for messages. */
  readonly writtenBy: string;
  /** What a person is told who asks for another change meanwhile. */
  readonly underWay: string;
  /** The command that says where it stands. */
  readonly status: string;
}

/**
 * A kind of change that is made on request: a file asks for it, the unit of its agent has the condition that the file
 * exists, and other agents that change the host have the condition that it does not. A host has at most one request of
 * all kinds (`lib/change/exclusion.ts`). Killed at any moment, it is continued until the request is gone.
 */
export interface Change<Request, Result> {
  readonly underWay: string;
  readonly status: string;
  requestPath(paths: State): string;
  /** The change under way. @throws Failure (fatal) if the file is damaged. */
  read(paths: State): Promise<Request | undefined>;
  write(paths: State, request: Request): Promise<void>;
  /** How the last one ended; undefined also if that cannot be read: nothing depends on it. */
  last(paths: State): Promise<Result | undefined>;
  writeResult(paths: State, result: Result): Promise<void>;
  /** Nothing is asked for any more. */
  remove(paths: State): Promise<void>;
  /** Ends the change under way. Its result is written first: whoever waits for the end reads it. */
  end(paths: State, resultOf: (request: Request) => Result): Promise<void>;
}

export function changeOnRequest<Request, Result>(
  it: Description<Request, Result>,
): Change<Request, Result> {
  const requestPath = (paths: State) => recordPath(paths, it.records.request);
  const write = async (path: string, contents: Request | Result) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileAtomic(path, `${JSON.stringify(contents, null, 2)}\n`, 0o600);
  };
  const writeResult = (paths: State, result: Result) =>
    write(recordPath(paths, it.records.result), result);
  const remove = async (paths: State) => void (await removeFile(requestPath(paths)));
  const read = async (paths: State) => {
    const path = requestPath(paths);
    const text = await readTextIfPresent(path);
    if (text === undefined) return undefined;
    const parsed = it.request.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    throw new Failure('fatal', `${path} cannot be used`, {
      expected: `a request as "${it.writtenBy}" writes it`,
      found: z.prettifyError(parsed.error),
    });
  };
  return {
    underWay: it.underWay,
    status: it.status,
    requestPath,
    read,
    write: (paths, request) => write(requestPath(paths), request),
    async last(paths) {
      const text = await readTextIfReadable(recordPath(paths, it.records.result));
      return it.result.safeParse(parseJson(text ?? '')).data;
    },
    writeResult,
    remove,
    async end(paths, resultOf) {
      const request = await read(paths);
      if (request === undefined) return;
      await writeResult(paths, resultOf(request));
      await remove(paths);
    },
  };
}

/** A request that can record why it failed before anything was changed. */
export interface CanFail {
  readonly failure?: FailureData | undefined;
}

/** Records why the change under way failed; the first reason is kept. */
export async function recordFailure(
  change: Pick<Change<CanFail, unknown>, 'read' | 'write'>,
  paths: State,
  failure: FailureData,
): Promise<void> {
  const request = await change.read(paths);
  if (request === undefined || request.failure !== undefined) return;
  await change.write(paths, { ...request, failure });
}
