import { hostname } from 'node:os';
import { redact } from '../../lib/base/log/redact.ts';
import { run } from '../../lib/host/command.ts';

const READ_MS = 10_000;
/** The kubelet tries again every ten to fifteen seconds (kuberuntime_sandbox.go). */
const SINCE = '--since=-25s';
const LINE = /"Failed to create sandbox for pod" err="((?:[^"\\]|\\.)*)" pod="([^"\\]+)"/;
const MOST_CHARACTERS = 400;

/**
 * Why the kubelet has created no sandbox for the static pod of one of these containers in the last seconds, as it says in
 * the journal: without one, a pod has no container whose end would tell. Undefined if it has not failed. Other pods may
 * have to wait for their network: a static one has the name of its Node, which is that of the host, behind its own.
 */
export async function sandboxTrouble(
  containers: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const args = ['--unit=kubelet.service', SINCE, '--output=cat', '--quiet', '--no-pager'];
  const node = hostname().replaceAll('.', '\\.');
  const pods = `/(${containers.join('|')})-${node}"$`;
  const lines = ['--reverse', '--lines=1', `--grep="Failed to create sandbox for pod" .*${pods}`];
  return troubleIn(await run('journalctl', [...args, ...lines], { signal, deadlineMs: READ_MS }));
}

/** In a line of the kubelet: the pod, and what the runtime said, without what the kubelet and gRPC wrap around it. */
export function troubleIn(line: string): string | undefined {
  const [, quoted = '', pod] = LINE.exec(line) ?? [];
  if (pod === undefined) return undefined;
  const said = redact(quoted.replace(/\\(["\\])/g, '$1')).replace(
    /^rpc error: code = \w+ desc = /,
    '',
  );
  return `the pod ${pod} gets no sandbox: ${said.slice(0, MOST_CHARACTERS)}`;
}
