/**
 * `replace-api-server LEADER N`: replaces the API server of a host as sno-rotate does when the files
 * have changed that it reads once. Runs in the network of the host, whose PID 1 is LEADER; each N is another change.
 */

import { podsIn } from '../../agents/steps/control-plane-pods.ts';
import { podReady } from '../../agents/upkeep/rotate/pod-ready.ts';
import { endSurge, replaceApiServer } from '../../agents/upkeep/rotate/replace-api-server.ts';
import { describeError } from '../../lib/base/errors/failure.ts';
import { createLogger } from '../../lib/base/log/logger.ts';
import { readCluster } from '../../lib/config/cluster/read-cluster.ts';
import { Progress } from '../../lib/engine/steps/progress.ts';
import { run } from '../../lib/host/command.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { readOncePaths, withReadOnce } from '../../lib/render/kubernetes/read-once.ts';
import { enterArguments } from '../host/machine.ts';

const RESTART_MS = 3 * 60_000;
const NFT_MS = 30_000;
const API_SERVER = 'kube-apiserver';

async function main([leader = '', n = '']: readonly string[]): Promise<void> {
  const paths = hostPaths(`/proc/${leader}/root`);
  const log = createLogger({ write: (line) => process.stdout.write(line) });
  const signal = AbortSignal.timeout(RESTART_MS);
  const progress = new Progress(signal, performance.now() + RESTART_MS, log, {
    waiting: () => true,
  });
  const host: Parameters<typeof replaceApiServer>[0] = {
    paths,
    cluster: await readCluster(paths),
    runNft: async (rules, until) => {
      const nft = [...enterArguments(Number(leader)), 'nft', '-f', '-'];
      await run('nsenter', nft, { input: rules, signal: until, deadlineMs: NFT_MS });
    },
    ready: (pod, within) => podReady({ paths, settings: defaultSettings }, pod, within),
  };
  const changed = new Map(readOncePaths(API_SERVER).map((path) => [path, n]));
  for (const pod of await podsIn(paths.staticPods)) {
    if (pod.component !== API_SERVER) continue;
    const next = { ...pod, manifest: withReadOnce(pod, changed) };
    await replaceApiServer(host, next, progress);
    await podReady({ paths, settings: defaultSettings }, next, progress);
    await endSurge(host, progress);
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = 1;
});
