/**
 * `npm run lab`. The components read the chosen version of Kubernetes when they are loaded: `--kubernetes` is handled before
 * the lab itself (lab.ts) is.
 */
import { parseArgs } from 'node:util';
import { describeError } from '../lib/base/errors/failure.ts';
import { KUBERNETES_VARIABLE } from './kubernetes-variable.ts';

const EXIT_USAGE = 2;

const { values } = parseArgs({ options: { kubernetes: { type: 'string' } }, strict: false });
if (typeof values.kubernetes === 'string') process.env[KUBERNETES_VARIABLE] = values.kubernetes;
await import('./lab.ts').catch((error: unknown) => {
  process.stderr.write(`${describeError(error)}\n`);
  process.exit(EXIT_USAGE);
});
