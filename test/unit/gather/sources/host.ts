import { join } from 'node:path';
import type { GatherHost } from '../../../../agents/gather/gather-host.ts';
import type { Source, SourceGroup } from '../../../../agents/gather/source.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';

/** A host whose files are below a folder, or this machine. */
export function hostAt(root: string, work: string, rest: Partial<GatherHost> = {}): GatherHost {
  return {
    paths: hostPaths(root),
    settings: defaultSettings,
    stage: 'installed',
    folder: 'control-plane/master',
    work: join(work, 'work'),
    ...rest,
  };
}

export const soon = () => AbortSignal.timeout(10_000);

export async function textOf(source: Source, host: GatherHost): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source.open(host, AbortSignal.timeout(source.deadlineMs))) {
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A group's sources by path in the bundle. */
export async function listed(group: SourceGroup, host: GatherHost): Promise<Map<string, Source>> {
  const sources = await group.list(host, AbortSignal.timeout(group.deadlineMs));
  return new Map(sources.map((source) => [source.path, source]));
}

/** The text of one of them. */
export async function read(group: SourceGroup, host: GatherHost, path: string): Promise<string> {
  const source = (await listed(group, host)).get(path);
  if (source === undefined) throw new Error(`${group.name} lists no ${path}`);
  return textOf(source, host);
}
