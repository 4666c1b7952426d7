import { lookup } from 'node:dns/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { durationText, parseDuration } from '../../lib/base/duration.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../lib/clients/kube/watch-objects.ts';
import { exists } from '../../lib/host/files.ts';
import { requireRegularFile } from '../../lib/host/given-file.ts';
import { readPersonsKubeconfig } from '../kubeconfig/read-kubeconfig.ts';
import { LEVELS, type Level, type LogFile } from '../process/log-file.ts';
import type { Surroundings } from '../surroundings.ts';
import { saveBackupSigner } from './backup-signer.ts';
import { EXCHANGE_TIMES, exchangeKubeconfig } from './exchange.ts';
import { type TargetName, targets } from './targets.ts';

export interface WaitForOptions {
  /** The folder with auth/kubeconfig. */
  dir: string;
  /** Such as `90m`. */
  timeout: string;
  logLevel: Level;
}

const LOOKUP_MS = 10_000;

/**
 * `sno wait-for ...`: watches the cluster of `auth/kubeconfig` until the target's
 * ConfigMap shows that the target is reached. Progress goes to standard error. The
 * API server does not answer at first and during the reboot: the watch is resumed
 * then. At the end of the installation, `auth/kubeconfig` is exchanged, and
 * `auth/backup-signer.json` is written.
 * @throws Failure (usage, deadline, fatal for a failed installation, or retry if the exchange failed)
 */
export async function waitFor(
  target: TargetName,
  { dir, timeout, logLevel }: WaitForOptions,
  { complain, signal }: Pick<Surroundings, 'complain' | 'signal'>,
  log: LogFile,
): Promise<void> {
  const { namespace, name, what, describe, isReached, exchanges } = targets[target];
  const deadlineMs = parseDuration('--timeout', timeout);
  const path = await kubeconfigIn(dir);
  const access = await readPersonsKubeconfig(path, { signal });
  log.begin();
  const say = (level: Level, message: string) => {
    log.add(level, message);
    if (LEVELS.indexOf(level) >= LEVELS.indexOf(logLevel)) {
      complain(`${level.toUpperCase()} ${message}`);
    }
  };
  using client = new KubeClient(access);
  const began = performance.now();
  say('info', `Waiting up to ${durationText(deadlineMs)} for ${what} at ${access.server.origin}`);
  const unknown = await unknownName(access.server.hostname);
  if (unknown !== undefined) say('warn', unknown);
  const dataOf = (objects: ReadonlyMap<string, { data?: Record<string, string> | undefined }>) =>
    objects.get(`${namespace}/${name}`)?.data;
  await watchUntil(
    client,
    resources.configMaps,
    { namespace, fieldSelector: `metadata.name=${name}` },
    (objects) => (isReached(dataOf(objects)) ? true : undefined),
    {
      signal,
      deadlineMs,
      what,
      describe: (objects) => describe(dataOf(objects)),
      report: (observed) => say('info', `Still waiting: ${observed}`),
    },
  );
  say(
    'info',
    `No longer waiting for ${what}: done after ${durationText(performance.now() - began)}`,
  );
  if (!exchanges) return;
  const inform = (line: string) => say('info', line);
  await exchangeKubeconfig(path, {
    ...EXCHANGE_TIMES,
    signal,
    now: () => new Date(),
    say: inform,
  });
  await saveBackupSigner(path, { signal, say: inform });
}

/** What to do on this machine if its name servers do not know the API's name; they may learn it later. */
async function unknownName(name: string): Promise<string | undefined> {
  try {
    await Promise.race([
      lookup(name),
      sleep(LOOKUP_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('late'))),
    ]);
    return undefined;
  } catch {
    return `The name servers of this machine do not know ${name}. Add the record, or this line to /etc/hosts, with the address of the host: "ADDRESS ${name}"`;
  }
}

async function kubeconfigIn(dir: string): Promise<string> {
  const path = join(dir, 'auth', 'kubeconfig');
  if (await exists(path)) {
    await requireRegularFile(path, 'The kubeconfig');
    return path;
  }
  throw new Failure('usage', `${path} does not exist`, {
    fix: 'With --dir, set the folder that "sno create single-node-ignition-config" wrote to.',
  });
}
