import { basename } from 'node:path';
import { standardOutput } from '../lib/base/command-line.ts';
import { endProcess, watchOutput } from '../lib/base/end-process.ts';
import { EXIT, exitCodeFor } from '../lib/base/errors/exit-codes.ts';
import { describeError } from '../lib/base/errors/failure.ts';
import { licenses } from '../lib/base/licenses.ts';
import { productVersion } from '../lib/base/version.ts';
import { hostPaths } from '../lib/host/paths.ts';
import { agentOf, agents } from './agents.ts';

const names = Object.keys(agents);
/** An executable with a single agent always runs that agent, whatever its name. */
const soleAgent = names.length === 1 ? names[0] : undefined;

const usage = `sno-agents ${productVersion}: the agents of a single-node cluster's host

usage: sno-agents AGENT plan|run|status
       AGENT plan|run|status          by the link of that name
       sno-agents names|licenses|--version

agents: ${names.join(', ')}
`;

/** One executable for all agents, selected by the name it is called by or the first argument. */
async function main(calledAs: string, args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args;
  if (name === '--version') {
    standardOutput.write(`${productVersion}\n`);
    return EXIT.done;
  }
  const called = agentOf(soleAgent ?? calledAs);
  const asked = agentOf(name);
  // A single-agent executable gets that agent's name as an argument when it restarts itself.
  if (called !== undefined && asked !== called) return agents[called](hostPaths(), args, calledAs);
  if (asked !== undefined) return agents[asked](hostPaths(), rest, name);
  if (name === 'names') {
    standardOutput.write(`${names.join('\n')}\n`);
    return EXIT.done;
  }
  if (name === 'licenses') {
    standardOutput.write(licenses());
    return EXIT.done;
  }
  const isHelp = name === '--help' || name === '';
  (isHelp ? standardOutput.write : standardOutput.writeError)(
    isHelp ? usage : `unknown agent ${name}\n\n${usage}`,
  );
  return name === '--help' ? EXIT.done : EXIT.usage;
}

watchOutput();
main(basename(process.argv0), process.argv.slice(2)).then(
  (code) => endProcess(code),
  (error: unknown) => {
    standardOutput.writeError(`${describeError(error)}\n`);
    return endProcess(exitCodeFor(error));
  },
);
