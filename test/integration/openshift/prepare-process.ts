/** `reconfigure prepare` as a process that can be killed: `ROOT [arguments]`. */
import { runPrepare } from '../../../agents/reconfigure/prepare/main.ts';
import { hostPaths } from '../../../lib/host/paths.ts';

const [root = '', ...args] = process.argv.slice(2);
process.exitCode = await runPrepare(hostPaths(root), args);
