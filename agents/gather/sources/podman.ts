import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { outputText } from '../../../lib/host/program-output.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';
import { Limit } from '../collecting/abort.ts';
import { type GatherHost, own, patient } from '../gather-host.ts';
import type { Source } from '../source.ts';
import { command } from './command.ts';
import { fileName } from './container-files.ts';
import { made, missing } from './made.ts';

const LIST = ['podman', 'ps', '--all', '--no-trunc', '--format', 'json'] as const;
const LIST_MS = 10_000;

const listSchema = z
  .array(z.looseObject({ Id: z.string().min(1), Names: z.array(z.string()).nullish() }))
  .nullable();

/** Containers run by podman, such as those that render OpenShift's bootstrap; none without podman. */
export async function podmanSources(host: GatherHost, signal: AbortSignal): Promise<Source[]> {
  const at = (name: string) => own(host, `pods/${name}`);
  const { sinceMs } = host;
  const since = sinceMs === undefined ? [] : ['--since', new Date(sinceMs).toISOString()];
  const ms = patient(host, LIST_MS);
  const over = new Failure('retry', `podman ps gave no answer within ${ms / 1000} s`);
  try {
    if (!(await isInstalled('podman'))) return [];
    using limit = new Limit([signal], { ms, over });
    const listed = await outputText(LIST, limit.signal);
    const parsed = listSchema.parse(JSON.parse(listed)) ?? [];
    return [
      made(at('podman.json'), async () => listed, { format: 'json' }),
      ...parsed.flatMap(({ Id: id, Names }) => {
        const name = `${fileName(Names?.[0] ?? 'container')}-${fileName(id)}`;
        const inspect = ['podman', 'container', 'inspect', id] as const;
        return [
          command(at(`${name}.inspect`), inspect, { format: 'json' }),
          command(at(`${name}.log`), ['podman', 'logs', '--timestamps', ...since, id], {
            bothStreams: true,
            phase: 'bulk',
            deadlineMs: 60_000,
            limitBytes: 64 << 20,
          }),
        ];
      }),
    ];
  } catch (error) {
    signal.throwIfAborted();
    return [missing(at('podman.json'), error)];
  }
}
