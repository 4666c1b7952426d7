import { execa } from 'execa';
import { z } from 'zod';
import { Failure } from '../../../lib/errors/failure.ts';
import { type GatherHost, own } from '../gather-host.ts';
import type { Source } from '../source.ts';
import { command, usual } from './command.ts';
import { fileName } from './container-files.ts';
import { made, missing } from './made.ts';

const LIST_MS = 10_000;
const OPTIONS = { forceKillAfterDelay: 1000, stdin: 'ignore', reject: false } as const;

const listSchema = z
  .array(z.looseObject({ Id: z.string().min(1), Names: z.array(z.string()).nullish() }))
  .nullable();

/** Containers that podman runs, such as those that render OpenShift's bootstrap; none without podman. */
export async function podmanSources(host: GatherHost, signal: AbortSignal): Promise<Source[]> {
  const at = (name: string) => own(host, `pods/${name}`);
  try {
    const listed = await list(signal);
    if (listed === undefined) return [];
    const parsed = listSchema.parse(JSON.parse(listed)) ?? [];
    return [
      made(at('podman.json'), async () => listed, { format: 'json' }),
      ...parsed.flatMap(({ Id: id, Names }) => {
        const name = `${fileName(Names?.[0] ?? 'container')}-${fileName(id)}`;
        return [
          command(at(`${name}.inspect`), ['podman', 'container', 'inspect', id], {
            format: 'json',
          }),
          logOf(at(`${name}.log`), id),
        ];
      }),
    ];
  } catch (error) {
    signal.throwIfAborted();
    return [missing(at('podman.json'), error)];
  }
}

/** What `podman ps` prints, or undefined where there is no podman. */
async function list(signal: AbortSignal): Promise<string | undefined> {
  const call = ['ps', '--all', '--no-trunc', '--format', 'json'];
  const { stdout, stderr, failed, timedOut, code } = await execa('podman', call, {
    ...OPTIONS,
    cancelSignal: signal,
    timeout: LIST_MS,
  });
  if (code === 'ENOENT') return undefined;
  if (!failed) return stdout;
  throw new Failure('retry', 'podman ps failed', {
    found: timedOut ? `no answer within ${LIST_MS / 1000} s` : (stderr.split('\n').at(-1) ?? ''),
  });
}

/** A container's two streams as one, which is how it wrote them. */
function logOf(path: string, id: string): Source {
  return {
    ...usual,
    path,
    phase: 'bulk',
    deadlineMs: 60_000,
    limitBytes: 64 << 20,
    async *open({ sinceMs }, signal) {
      const since = sinceMs === undefined ? [] : ['--since', new Date(sinceMs).toISOString()];
      const child = execa('podman', ['logs', '--timestamps', ...since, id], {
        ...OPTIONS,
        cancelSignal: signal,
        all: true,
        buffer: false,
      });
      yield* child.iterable({ from: 'all', binary: true, preserveNewlines: true });
      const { failed, exitCode } = await child;
      signal.throwIfAborted();
      if (failed) throw new Failure('retry', `podman logs failed with exit code ${exitCode}`);
    },
  };
}
