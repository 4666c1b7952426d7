import { runAgent } from '../../lib/engine/steps/agent-command.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { deferredContext } from './context.ts';
import { deferredPlan } from './plan.ts';

/** The command line of sno-deferred, which has an additional option. Returns the exit code. */
export async function runDeferred(paths: HostPaths, args: readonly string[]): Promise<number> {
  return runAgent(paths, args, {}, (settings) => ({
    plan: deferredPlan(settings),
    runOptions: [
      {
        flags: '--expires-in-hours <n>',
        description: 'expire n hours from now, also after restarts',
      },
    ],
    context: (_log, options) => deferredContext(paths, options),
  }));
}
