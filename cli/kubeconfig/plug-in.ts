import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import type { Credentials } from '../../lib/clients/kube/kubeconfig.ts';
import { runProgram } from '../process/program.ts';
import type { ClusterEntry, ExecEntry } from './entries.ts';

/** A plug-in may ask a person in a browser. */
const DEADLINE_MS = 120_000;
/** So that a credential does not end on its way. */
const AHEAD_MS = 10_000;
const SHOWN_LINES = 3;

const credentialSchema = z.object({
  kind: z.literal('ExecCredential'),
  apiVersion: z.string(),
  status: z.object({
    token: z.string().min(1).optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.iso.datetime({ offset: true }).optional(),
  }),
});

/** The cluster as a plug-in is told, and where relative commands begin. */
export interface PlugInCluster {
  readonly kubeconfig: string;
  readonly entry: ClusterEntry;
  /** PEM. */
  readonly ca: string;
}

/**
 * A credential plug-in (`exec` of a user), run as client-go does: with KUBERNETES_EXEC_INFO, and again once its
 * credential has ended. It has no terminal, and ends at a deadline or with the signal.
 * @throws Error that names the plug-in, how it ended and what it wrote
 */
export function plugIn(
  exec: ExecEntry,
  cluster: PlugInCluster,
  { signal, now }: { readonly signal: AbortSignal; readonly now: () => Date },
): () => Promise<Credentials> {
  let credential: Credentials = {};
  let endsMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (now().getTime() < endsMs - AHEAD_MS) return credential;
    const { status } = await run(exec, cluster, signal);
    const { token, clientCertificateData: certificate, clientKeyData: key } = status;
    if (token === undefined && (certificate === undefined || key === undefined)) {
      throw new Error(`the plug-in ${exec.command} gives neither a token nor a certificate`);
    }
    credential = { token, certificate, key };
    const { expirationTimestamp } = status;
    endsMs =
      expirationTimestamp === undefined
        ? Number.POSITIVE_INFINITY
        : Date.parse(expirationTimestamp);
    return credential;
  };
}

async function run(exec: ExecEntry, cluster: PlugInCluster, signal: AbortSignal) {
  const { command, args, env, installHint } = exec;
  const { ok, ending, stdout, stderr } = await runProgram(
    besideKubeconfig(command, cluster.kubeconfig),
    args ?? [],
    {
      signal,
      deadlineMs: DEADLINE_MS,
      env: {
        ...Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
        KUBERNETES_EXEC_INFO: execInfo(exec, cluster),
      },
    },
  );
  if (!ok) {
    const lines = stderr.split('\n').slice(-SHOWN_LINES);
    const hint = installHint === undefined ? [] : [installHint];
    const found = [ending, ...lines, ...hint].filter((line) => line !== '').join(' | ');
    throw new Error(`the plug-in ${command} failed: ${found}`);
  }
  const read = credentialSchema.safeParse(jsonOf(stdout.toString()));
  if (read.success && read.data.apiVersion === exec.apiVersion) return read.data;
  throw new Error(`the plug-in ${command} did not write an ExecCredential of ${exec.apiVersion}`);
}

/** As client-go does: a path is relative to the kubeconfig, a name is looked for in PATH. */
function besideKubeconfig(command: string, kubeconfig: string): string {
  return command.includes('/') && !isAbsolute(command)
    ? join(dirname(kubeconfig), command)
    : command;
}

function execInfo({ apiVersion, provideClusterInfo }: ExecEntry, cluster: PlugInCluster): string {
  const { entry, ca } = cluster;
  const info = {
    server: entry.server,
    'tls-server-name': entry['tls-server-name'],
    'certificate-authority-data': Buffer.from(ca).toString('base64'),
    'proxy-url': entry['proxy-url'],
  };
  return JSON.stringify({
    kind: 'ExecCredential',
    apiVersion,
    spec: { interactive: false, ...(provideClusterInfo === true ? { cluster: info } : {}) },
  });
}

/** Undefined if it is none: the text can hold a token, which no message may repeat. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
