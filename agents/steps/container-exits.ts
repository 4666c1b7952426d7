import { open } from 'node:fs/promises';
import { lastError } from '../../lib/base/log/last-error.ts';
import type { Exit } from '../../lib/base/wait/repeated-exits.ts';
import type { Container } from '../../lib/clients/cri/messages.ts';
import { type ContainerRuntime, connectHostRuntime } from '../../lib/clients/cri/runtime.ts';
import type { HostPaths } from '../../lib/host/paths.ts';

const CALL_MS = 5000;
const LOG_BYTES = 32 * 1024;
/** A line of a container's log: `TIME stdout|stderr F|P TEXT` (kubernetes/pkg/kubelet/kuberuntime/logs). */
const LOG_LINE = /^\S+ (?:stdout|stderr) [FP] /;
/** The runtime could not start it. */
const NOT_STARTED = 128;

/**
 * Of these containers of static pods, in this order, those that have ended by an error and wait for the kubelet to start them again.
 * One that a signal has ended is none.
 */
export async function containerExits(
  paths: HostPaths,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Exit[]> {
  if (names.length === 0) return [];
  using runtime = connectHostRuntime(paths);
  const all = await runtime.listContainers({ signal, deadlineMs: CALL_MS });
  const exits: Exit[] = [];
  for (const name of names) {
    const exit = await exitOf(runtime, paths, newest(all, name), signal);
    if (exit !== undefined) exits.push(exit);
  }
  return exits;
}

const newest = (all: readonly Container[], name: string): Container | undefined =>
  all.filter((each) => each.name === name).toSorted((a, b) => b.createdAtMs - a.createdAtMs)[0];

async function exitOf(
  runtime: ContainerRuntime,
  paths: HostPaths,
  container: Container | undefined,
  signal: AbortSignal,
): Promise<Exit | undefined> {
  if (container?.state !== 'exited') return undefined;
  const status = await runtime.containerStatus(container.id, { signal, deadlineMs: CALL_MS });
  if (status === undefined || status.exitCode === 0 || status.exitCode > NOT_STARTED)
    return undefined;
  const printed = lastError(await endOfLog(paths.at(status.logPath)));
  return {
    of: `the container ${container.name}`,
    id: container.id,
    status: status.exitCode,
    error: printed === '' ? lastError(status.message) : printed,
    see: `tail ${status.logPath}`,
  };
}

/** Without what the runtime puts before each line; empty if it cannot be read. */
async function endOfLog(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const at = Math.max(0, size - LOG_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LOG_BYTES), 0, LOG_BYTES, at);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    return lines.map((line) => line.replace(LOG_LINE, '')).join('\n');
  } catch {
    return '';
  }
}
