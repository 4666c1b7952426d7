/**
 * `agent-elsewhere HOST AGENT ...`: an agent as in the executable, for a host whose files are below
 * another folder and whose services have other addresses: HOST is an `OtherHost` as JSON.
 */
import { agentOf, agents } from '../../agents/agents.ts';
import { EXIT, exitCodeFor } from '../../lib/base/errors/exit-codes.ts';
import { describeError } from '../../lib/base/errors/failure.ts';
import { type HostEndpoints, hostPaths } from '../../lib/host/paths.ts';

export interface OtherHost {
  readonly root?: string;
  readonly endpoints?: HostEndpoints;
}

async function main([host = '{}', name = '', ...args]: readonly string[]): Promise<number> {
  const { root, endpoints }: OtherHost = JSON.parse(host);
  const agent = agentOf(name);
  return agent === undefined ? EXIT.usage : agents[agent](hostPaths(root, endpoints), args, name);
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${describeError(error)}\n`);
    process.exit(exitCodeFor(error));
  },
);
