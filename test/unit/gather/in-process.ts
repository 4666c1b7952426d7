import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Entrance } from '../../../agents/gather/entrance/command-line.ts';
import { type GatherSurroundings, runGatherCommand } from '../../../agents/gather/run.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { groupsOf, type Synthetic } from './synthetic.ts';
import type { Ended, GatherTester } from './tester.ts';

/** Runs gather in this process: for tables, where one process per case would be slow. */
export async function gatherHere(
  { root, home }: GatherTester,
  [entrance, ...args]: readonly [Entrance, ...string[]],
  sources: readonly Synthetic[],
  changes: Partial<GatherSurroundings> = {},
): Promise<Ended> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const said = Promise.all([buffer(stdout), buffer(stderr)]);
  const code = await runGatherCommand(entrance, args, {
    paths: hostPaths(root),
    catalogue: groupsOf(sources),
    environment: { HOME: home },
    isRoot: true,
    owner: undefined,
    self: [],
    ...{ stdin, stdout, stderr },
    signal: new AbortController().signal,
    ...changes,
  });
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, signal: null, stdout: out, stderr: err.toString('utf8') };
}
