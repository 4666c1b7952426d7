import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { InstallContext } from '../../../agents/steps/host-context.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { createLogger } from '../../../lib/log/logger.ts';
import { Progress } from '../../../lib/steps/progress.ts';
import { input } from '../render/rendered-host.ts';

/** A live host as a folder, with what a step of bootkube is given there. */
export function liveHost(root: string) {
  const paths = hostPaths(root);
  const context: InstallContext = {
    paths,
    settings: defaultSettings,
    cluster: input.cluster,
    hostname: () => 'node.example.com',
    bootTime: async () => new Date(0),
  };
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line), priorities: false });
  return {
    paths,
    context,
    /** What was logged. */
    lines,
    write(path: string, contents: string | Uint8Array, mode = 0o644): void {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, contents, { mode });
    },
    progress(signal: AbortSignal = AbortSignal.timeout(60_000), leftMs = 60_000): Progress {
      return new Progress(signal, performance.now() + leftMs, log, { waiting: () => true });
    },
  };
}
