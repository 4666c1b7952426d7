import type { GatherHost } from '../gather-host.ts';
import type { Source } from '../source.ts';
import { type Differences, stream } from './command.ts';

/** A text generated here, from more than one program or file. */
export function made(
  path: string,
  make: (host: GatherHost, signal: AbortSignal) => Promise<string>,
  differences: Differences = {},
): Source {
  async function* open(host: GatherHost, signal: AbortSignal) {
    yield Buffer.from(await make(host, signal), 'utf8');
  }
  return stream(path, open, differences);
}

/** A generated JSON document. */
export function madeJson(
  path: string,
  make: (host: GatherHost, signal: AbortSignal) => Promise<unknown>,
): Source {
  const text = async (host: GatherHost, signal: AbortSignal) =>
    `${JSON.stringify(await make(host, signal), null, 1)}\n`;
  return made(path, text, { format: 'json' });
}

/** Placeholder for something missing: its reason becomes an outcome of the bundle. */
export function missing(path: string, reason: unknown): Source {
  return made(path, () => Promise.reject(reason));
}
