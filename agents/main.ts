import { basename } from 'node:path';
import { hostPaths } from '../lib/host/paths.ts';
import { EXIT, exitCodeFor } from '../lib/steps/exit-codes.ts';
import { describeError } from '../lib/steps/failure.ts';
import { agents, isAgentName } from './agents.ts';

/** Defined by the build. */
declare const __SNO_AGENTS_VERSION__: string | undefined;

const version = typeof __SNO_AGENTS_VERSION__ === 'undefined' ? 'unbuilt' : __SNO_AGENTS_VERSION__;

const usage = `sno-agents ${version}: the agents of a single-node cluster's host

usage: sno-agents AGENT plan|run|status
       AGENT plan|run|status          by the link of that name
       sno-agents names|--version

agents: ${Object.keys(agents).join(', ')}
`;

/** One executable for all agents: the name that it is called by, or the first argument, selects. */
async function main(calledAs: string, args: readonly string[]): Promise<number> {
  if (isAgentName(calledAs)) return agents[calledAs](hostPaths(), args);
  const [name = '', ...rest] = args;
  if (isAgentName(name)) return agents[name](hostPaths(), rest);
  if (name === 'names') {
    process.stdout.write(`${Object.keys(agents).join('\n')}\n`);
    return EXIT.done;
  }
  if (name === '--version') {
    process.stdout.write(`${version}\n`);
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
