import { Failure } from '../../lib/base/errors/failure.ts';
import { exists } from '../../lib/host/files.ts';
import { hostPaths, sealedPath } from '../../lib/host/paths.ts';
import { kubectl } from '../checks/kubectl.ts';
import { eventually } from '../eventually.ts';
import { bootAgain } from '../faults/cells/faults.ts';
import { untilOff } from '../faults/cells/trial.ts';
import { onHost } from '../host/on-host.ts';
import type { Installation } from '../installation.ts';

const COMMAND_MS = 60_000;
const READY_MS = 4 * 60_000;

/** The way back on request: the node is sealed as it was shipped, and its cluster has these addresses for it. */
export async function rollBack(run: Installation, addresses: readonly string[]): Promise<void> {
  const { signal } = run.context;
  const rollback = ['reconfigure', 'rollback', '--yes'];
  // The host ends while it runs.
  await run.booted.exec(rollback, { timeoutMs: COMMAND_MS }, signal).catch(() => undefined);
  await untilOff(run);
  await bootAgain(run);
  if (!(await exists(sealedPath(hostPaths(run.booted.rootDir))))) {
    throw new Failure('fatal', 'the node is not sealed again');
  }
  await onHost(run.booted, ['reconfigure', 'validate', '--unseal'], signal);
  const look = async () => {
    const ready = ['wait', 'node', '--all', '--for=condition=Ready', '--timeout=20s'];
    await kubectl(run.cluster, ready, signal);
    const path = '{.items[*].status.addresses[?(@.type=="InternalIP")].address}';
    const found = await kubectl(run.cluster, ['get', 'nodes', '-o', `jsonpath=${path}`], signal);
    if (found === addresses.join(' ')) return;
    throw new Failure('fatal', 'the Node does not have the addresses of the factory', { found });
  };
  await eventually(look, READY_MS, signal);
}
