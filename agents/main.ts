import { basename } from 'node:path';
import { hostPaths } from '../lib/host/paths.ts';
import { EXIT, exitCodeFor } from '../lib/steps/exit-codes.ts';
import { describeError } from '../lib/steps/failure.ts';
import { agents, isAgentName } from './agents.ts';

/** Defined by the build. */
declare const __SNO_AGENTS_VERSION__: string | undefined;

const version = typeof __SNO_AGENTS_VERSION__ === 'undefined' ? 'unbuilt' : __SNO_AGENTS_VERSION__;

const names = Object.keys(agents);
/** An executable of one agent is that agent, whatever it is called. */
const soleAgent = names.length === 1 ? names[0] : undefined;

const usage = `sno-agents ${version}: the agents of a single-node cluster's host

usage: sno-agents AGENT plan|run|status
       AGENT plan|run|status          by the link of that name
       sno-agents names|--version

agents: ${names.join(', ')}
`;

/** One executable for all agents: the name that it is called by, or the first argument, selects. */
async function main(calledAs: string, args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args;
  if (name === '--version') {
    process.stdout.write(`${version}\n`);
    return EXIT.done;
  }
  const called = soleAgent ?? calledAs;
  if (isAgentName(called)) return agents[called](hostPaths(), args);
  if (isAgentName(name)) return agents[name](hostPaths(), rest);
  if (name === 'names') {
    process.stdout.write(`${names.join('\n')}\n`);
    return EXIT.done;
  }
  const asked = name === '--help' || name === '';
  (asked ? process.stdout : process.stderr).write(
    asked ? usage : `there is no agent ${name}\n\n${usage}`,
  );
  return name === '--help' ? EXIT.done : EXIT.usage;
}

main(basename(process.argv0), process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${describeError(error)}\n`);
    process.exit(exitCodeFor(error));
  },
);
