/** Runs the agent on a test root; arguments: the root, then the agent's command line. */
import { runDeferred } from '../../agents/deferred/main.ts';
import { hostPaths } from '../../lib/host/paths.ts';

const [root = '', ...args] = process.argv.slice(2);
process.exitCode = await runDeferred(hostPaths(root), args);
