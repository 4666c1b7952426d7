import { ExecaError, execa } from 'execa';
import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import { exists } from '../../host/files.ts';
import type { HashKv } from './client.ts';

/**
 * Path of the etcdutl executable, or what runs it where it is only in an image and returns its output.
 * Its version must match the etcd that will run.
 */
export type Etcdutl = string | ((args: readonly string[], limits: Limits) => Promise<string>);

export interface EtcdutlOptions extends Limits {
  program: Etcdutl;
}

const hashKvOutput = z.object({
  hash: z.number().int(),
  hashRevision: z.number().int(),
  compactRevision: z.number().int(),
});

/**
 * The KV hash of a database file that no etcd has open. Equals the result of the
 * API's HashKV for the same revision and the same compaction. etcdutl opens the
 * file for writing and changes its bookkeeping pages, never its keys.
 */
export async function hashKvOfDatabase(
  database: string,
  revision: number,
  options: EtcdutlOptions,
): Promise<HashKv> {
  // If the file does not exist, etcdutl creates an empty database and hashes that.
  if (!(await exists(database))) throw new Failure('fatal', `no database at ${database}`);
  const args = ['hashkv', database, '--rev', String(revision), '--write-out', 'json'];
  const output = hashKvOutput.parse(JSON.parse(await runEtcdutl(args, options)));
  return {
    hash: output.hash,
    revision: output.hashRevision,
    compactRevision: output.compactRevision,
  };
}

const statusOutput = z.object({
  revision: z.number().int(),
  totalKey: z.number().int(),
  version: z.string(),
});

/** What a snapshot file contains. */
export interface SnapshotStatus {
  /** The last revision in it. */
  readonly revision: number;
  /** Revisions of keys that it contains. */
  readonly totalKey: number;
  /** Storage version, such as `3.6.0`; empty for an older etcd. */
  readonly version: string;
}

/** Checks every page of a snapshot file, without a change to it. */
export async function snapshotStatus(
  path: string,
  options: EtcdutlOptions,
): Promise<SnapshotStatus> {
  const args = ['snapshot', 'status', path, '--write-out', 'json'];
  return statusOutput.parse(JSON.parse(await runEtcdutl(args, options)));
}

/** Runs etcdutl and returns its output; a failure includes its last line. */
export async function runEtcdutl(
  args: readonly string[],
  { program, signal, deadlineMs }: EtcdutlOptions,
): Promise<string> {
  if (typeof program !== 'string') return program(args, { signal, deadlineMs });
  try {
    const { stdout } = await execa(program, args, {
      cancelSignal: signal,
      timeout: deadlineMs,
      stdin: 'ignore',
    });
    return stdout;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof ExecaError)) throw error;
    throw etcdutlFailure(args, error, deadlineMs);
  }
}

function etcdutlFailure(args: readonly string[], error: ExecaError, deadlineMs: number): Failure {
  const what = `etcdutl ${args.slice(0, 2).join(' ')} failed`;
  if (error.timedOut) {
    return new Failure('deadline', what, {
      expected: `completion within ${deadlineMs / 1000} s`,
      cause: error,
      tellsCause: true,
    });
  }
  const lines = String(error.stderr ?? '').split('\n');
  const reason = lines.findLast((line) => /^(Error|panic): /.test(line));
  // A full disk or a lack of memory may be temporary; the step's deadline limits the retries.
  return new Failure('retry', what, {
    code: 'command-failed',
    found: reason ?? error.shortMessage,
    cause: error,
    tellsCause: true,
  });
}
