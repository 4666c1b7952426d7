import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { Access } from '../../lib/clients/kube/kubeconfig.ts';
import { exists } from '../../lib/host/files.ts';
import { readPersonsKubeconfig } from '../kubeconfig/read-kubeconfig.ts';
import type { Surroundings } from '../surroundings.ts';

/** What the kubelet gives every pod. */
export const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * How the hub is reached: as a kubeconfig says (`--kubeconfig`, else KUBECONFIG), in a pod with the token of its service
 * account, else by ~/.kube/config.
 *
 * @throws Failure (usage) that names what was looked for
 */
export async function hubAccess(
  kubeconfig: string | undefined,
  { environment, signal }: Pick<Surroundings, 'environment' | 'signal'>,
  account = ACCOUNT,
): Promise<Access> {
  const named = kubeconfig ?? environment.KUBECONFIG;
  if (named !== undefined && named !== '') {
    return readPersonsKubeconfig(oneOf(named, kubeconfig === undefined), { signal });
  }
  const inPod = await podAccess(environment, account);
  if (inPod !== undefined) return inPod;
  const own = join(environment.HOME ?? homedir(), '.kube', 'config');
  if (await exists(own)) return readPersonsKubeconfig(own, { signal });
  throw new Failure('usage', 'no kubeconfig of the hub is known', {
    expected: `--kubeconfig FILE, the variable KUBECONFIG, or ${own}`,
  });
}

/** kubectl merges several files; nothing here does. */
function oneOf(path: string, isList: boolean): string {
  if (!isList || !path.includes(delimiter)) return path;
  throw new Failure('usage', 'KUBECONFIG names several files', {
    fix: 'Name one with --kubeconfig.',
  });
}

async function podAccess(
  {
    KUBERNETES_SERVICE_HOST: host,
    KUBERNETES_SERVICE_PORT: port = '443',
  }: Surroundings['environment'],
  account: string,
): Promise<Access | undefined> {
  const tokenFile = join(account, 'token');
  if (host === undefined || !(await exists(tokenFile))) return undefined;
  // The kubelet replaces it before it ends.
  const renewed = async () => ({ token: (await readFile(tokenFile, 'utf8')).trim() });
  const address = host.includes(':') ? `[${host}]` : host;
  return {
    server: new URL(`https://${address}:${port}`),
    ca: await readFile(join(account, 'ca.crt'), 'utf8'),
    ...(await renewed()),
    renewed,
  };
}
