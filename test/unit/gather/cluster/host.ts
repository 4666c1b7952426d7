import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GatherHost, HostStage } from '../../../../agents/gather/gather-host.ts';
import type { Source, SourceGroup } from '../../../../agents/gather/source.ts';
import { describeError } from '../../../../lib/base/errors/failure.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';

interface Teardown {
  teardown(body: () => unknown): void;
}

/** A host as an empty folder, with a path short enough for a socket below it. */
export function testHost(
  t: Teardown,
  stage: HostStage = 'installed',
  more: Partial<GatherHost> = {},
) {
  const root = mkdtempSync('/tmp/sno-gather-');
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const paths = hostPaths(root);
  const folder = stage === 'live' ? 'bootstrap' : 'control-plane/master';
  const work = join(root, 'work');
  const host: GatherHost = { paths, settings: defaultSettings, stage, folder, work, ...more };
  const write = (path: string, contents: string | Uint8Array) => {
    const place = paths.at(path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, contents);
    return place;
  };
  return { host, paths, root, write };
}

export interface Read {
  readonly text: string;
  readonly failure?: string;
}

/** The output of a source, and why it ended. */
export async function read(source: Source, host: GatherHost): Promise<Read> {
  const parts: Uint8Array[] = [];
  try {
    for await (const chunk of source.open(host, AbortSignal.timeout(30_000))) parts.push(chunk);
  } catch (error) {
    return { text: Buffer.concat(parts).toString(), failure: describeError(error) };
  }
  return { text: Buffer.concat(parts).toString() };
}

/** All files of a group by path. */
export async function readAll(group: SourceGroup, host: GatherHost): Promise<Map<string, Read>> {
  const sources = await group.list(host, AbortSignal.timeout(60_000));
  const all = await Promise.all(
    sources.map(async (source): Promise<[string, Read]> => [source.path, await read(source, host)]),
  );
  return new Map(all);
}
