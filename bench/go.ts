import { run } from '../lib/host/command.ts';
import { NotRunHere } from './benchmark.ts';

/** @throws NotRunHere without Go, which builds the programs to measure. */
export async function expectGo(): Promise<void> {
  const limits = { signal: AbortSignal.timeout(30_000), deadlineMs: 30_000 };
  await run('go', ['version'], limits).catch(() => {
    throw new NotRunHere('Go is missing; it builds what ours is compared with');
  });
}
