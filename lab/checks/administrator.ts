import { createHash, createPublicKey } from 'node:crypto';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { urlHost } from '../../lib/base/network/address.ts';
import { run } from '../../lib/host/command.ts';
import { exists } from '../../lib/host/files.ts';
import { parseConfig } from '../../lib/render/ignition/config.ts';
import { cli } from '../paths.ts';
import { DOMAIN } from '../site.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const EXCHANGE_MS = 3 * 60_000;
const RENEW_MS = 5 * 60_000;
const LAPTOP_CA = 'etc/kubernetes/pki/ca/laptop-admin/ca.crt';
const KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----/g;

/** Of every private key and certificate in the text: SHA-256 of the public key. */
const publicKeys = (texts: readonly string[]): string[] =>
  texts.map((pem) =>
    createHash('sha256')
      .update(createPublicKey(pem).export({ type: 'spki', format: 'der' }))
      .digest('hex'),
  );

/** Whoever finds the medium cannot sign administrators. */
export const mediumWithoutAdministrator: RunningCheck = {
  name: "the only key in the Ignition config is that of the API server's CA",
  run: async ({ ignition }) => {
    const { storage } = parseConfig(await readFile(ignition, 'utf8'), ignition);
    const contents = (storage?.files ?? []).map(({ path, contents }) => ({
      path,
      text: contents === undefined ? '' : decodeDataUrl(contents).toString('utf8'),
    }));
    const keys = contents.flatMap(({ text }) => text.match(KEY) ?? []);
    const serving = contents.find(({ path }) => path.endsWith('/kube-apiserver-serving-ca.crt'));
    const [expected] = publicKeys([serving?.text ?? '']);
    if (keys.length === 1 && publicKeys(keys)[0] === expected) return;
    throw new Failure('fatal', 'the Ignition config has other keys', {
      expected: 'one key',
      found: `${keys.length} keys`,
    });
  },
};

/** Until here, the laptop's administrator was used; afterwards, that of the host is. */
export const exchangedAdministrator: RunningCheck = {
  name: "auth/kubeconfig is exchanged, and the laptop's administrator is refused",
  run: async (cluster, signal) => {
    const laptop = { ...cluster, kubeconfig: join(cluster.folder, 'laptop-kubeconfig') };
    await copyFile(cluster.kubeconfig, laptop.kubeconfig);
    await exchange(cluster, signal);
    const whoami = ['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.groups}'];
    const groups = await kubectl(cluster, whoami, signal);
    if (!groups.includes('sno:administrators')) {
      throw new Failure('fatal', 'the kubeconfig was not exchanged', { found: groups });
    }
    await kubectl(cluster, ['get', 'secrets', '-A'], signal);
    await kubectl(laptop, ['get', 'nodes'], signal);
    await renew(cluster, signal);
    await requireRefused(laptop, signal);
    await kubectl(cluster, ['get', 'nodes'], signal);
    if (await exists(join(cluster.host.rootDir, LAPTOP_CA))) {
      throw new Failure('fatal', "the host keeps the laptop's CA", { found: LAPTOP_CA });
    }
  },
};

/** By address: the lab's DNS may answer nothing, and the certificate has the address too. */
async function exchange({ host, kubeconfig }: RunningCluster, signal: AbortSignal): Promise<void> {
  const byName = `https://api.${DOMAIN}:6443`;
  const byAddress = `https://${urlHost(host.identity.addresses[0])}:6443`;
  const change = async (from: string, to: string) => {
    const text = await readFile(kubeconfig, 'utf8');
    await writeFile(kubeconfig, text.replace(from, to));
  };
  await change(byName, byAddress);
  const folder = dirname(dirname(kubeconfig));
  const command = ['wait-for', 'install-complete', '--dir', folder, '--timeout', '2m'];
  await run(cli, command, { signal, deadlineMs: EXCHANGE_MS });
  await change(byAddress, byName);
}

async function renew({ host }: RunningCluster, signal: AbortSignal): Promise<void> {
  const start = ['systemctl', 'start', 'sno-renew.service'];
  const { exitCode } = await host.exec(start, { timeoutMs: RENEW_MS }, signal);
  if (exitCode !== 0) {
    throw new Failure('fatal', 'sno-renew failed', { fix: 'Read its journal.' });
  }
}

async function requireRefused(laptop: RunningCluster, signal: AbortSignal): Promise<void> {
  const found = await kubectl(laptop, ['get', 'nodes'], signal).then(
    () => 'an answer',
    (error: unknown) => {
      signal.throwIfAborted();
      return describeError(error);
    },
  );
  if (/Unauthorized|must be logged in/.test(found)) return;
  throw new Failure('fatal', "the laptop's administrator is not refused", { found });
}

export const administrator: readonly RunningCheck[] = [
  mediumWithoutAdministrator,
  exchangedAdministrator,
];
