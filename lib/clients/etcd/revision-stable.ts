import { status } from '@grpc/grpc-js';
import { Failure } from '../../base/errors/failure.ts';
import type { Wait } from '../../base/wait/limits.ts';
import { isRpcFailure } from '../grpc/failure.ts';
import type { EtcdClient, EtcdWrite } from './client.ts';

export interface QuietOptions extends Wait {
  /** How long nothing may be written. */
  quietMs: number;
}

const reportEveryMs = 5000;

/**
 * Watches every key until nothing was written for `quietMs`, and returns the
 * revision at which etcd settled. Only then does the compaction and hash of one
 * revision apply to the snapshot that follows. At the deadline, the error names the
 * key that was written last.
 */
export async function waitUntilRevisionStable(
  client: EtcdClient,
  { quietMs, deadlineMs, signal, report }: QuietOptions,
): Promise<number> {
  const enough = new AbortController();
  const limits = { signal: AbortSignal.any([signal, enough.signal]), deadlineMs };
  const seen: { write?: EtcdWrite } = {};
  const expected = `no write for ${quietMs / 1000} s`;
  try {
    return await new Promise<number>((resolve, reject) => {
      const rest = setTimeout(() => confirm().catch(reject), quietMs);
      limits.signal.addEventListener('abort', () => clearTimeout(rest), { once: true });
      const confirm = async () => {
        const revision = await client.revision(limits);
        if (revision === seen.write?.revision) resolve(revision);
        else rest.refresh();
      };
      const announce = throttled(report);
      const watch = async () => {
        for await (const write of client.watchAll(limits)) {
          seen.write = write;
          rest.refresh();
          announce(`a stable etcd revision (${expected}); ${describe(write)}`);
        }
        throw new Failure('retry', `${client.endpoint} closed the watch`);
      };
      watch().catch(reject);
    });
  } catch (error) {
    if (!isRpcFailure(error, status.DEADLINE_EXCEEDED)) throw error;
    const found = seen.write === undefined ? 'no answer' : describe(seen.write);
    throw new Failure(
      'deadline',
      `etcd revision did not become stable within ${deadlineMs / 1000} s`,
      {
        expected,
        found,
        fix: 'Stop the clients that still write to the API server',
      },
    );
  } finally {
    enough.abort();
  }
}

function describe({ revision, keys }: EtcdWrite): string {
  const key = keys.at(-1);
  return `revision ${revision}${key === undefined ? '' : `, last write to ${key}`}`;
}

function throttled(report: (description: string) => void): (description: string) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (description) => {
    if (performance.now() - lastMs < reportEveryMs) return;
    lastMs = performance.now();
    report(description);
  };
}
