/**
 * Renews the leaves of a host in a process of its own, which may have another clock. Arguments: the
 * root of the host, its endpoints as JSON. Prints the note of the step.
 */
import { renewLeaves } from '../../../agents/upkeep/renew/renew-leaves.ts';
import { createLogger } from '../../../lib/base/log/logger.ts';
import { Progress } from '../../../lib/engine/steps/progress.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { cluster } from '../../unit/agents/host/cluster.ts';
import { NODE } from './world.ts';

const LIMIT_MS = 240_000;
const [root = '', endpoints = '{}'] = process.argv.slice(2);
const log = createLogger({ write: (line) => process.stderr.write(line), priorities: false });
const progress = new Progress(AbortSignal.timeout(LIMIT_MS), performance.now() + LIMIT_MS, log, {
  waiting: () => true,
});
const context = {
  paths: hostPaths(root, JSON.parse(endpoints)),
  settings: defaultSettings,
  cluster,
  hostname: () => NODE,
  bootTime: async () => new Date(),
  run: 'another process',
};
process.stdout.write(JSON.stringify(await renewLeaves.run(context, progress)));
