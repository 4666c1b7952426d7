/** Agents with a clock years ahead, beside a control plane with the right one. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { readAttempts } from '../../agents/upkeep/renew/attempts.ts';
import { renewLeaves } from '../../agents/upkeep/renew/renew-leaves.ts';
import { startKubeletEndpoint } from '../../lab/servers/kubelet-endpoint.ts';
import { createLogger } from '../../lib/base/log/logger.ts';
import { Progress } from '../../lib/engine/steps/progress.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { inspectCertificate } from '../../lib/pki/certificate.ts';
import { renewableLeaves } from '../../lib/render/kubernetes/leaves.ts';
import { cluster } from '../unit/agents/host/cluster.ts';
import { readinessThroughout } from './control-plane/readiness.ts';
import { leafOf, NODE, startWorld } from './control-plane/world.ts';

/** Of Debian's package libfaketime. */
const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const skip = existsSync(LIBRARY) ? false : 'libfaketime is not installed';
const DAY_MS = 86_400_000;
const DAYS_AHEAD = 4 * 365;
const PROCESS = join(import.meta.dirname, 'control-plane/renew-process.ts');
/** Those that this host has: it defers no manifests, and the bootstrap's is not renewed. */
const leaves = renewableLeaves.filter(({ name }) => name !== 'deferred');

t.test('what is renewed years ahead works then and now', { skip }, async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'clock-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const world = await startWorld(root);
  t.teardown(() => world.stop());
  const serving = await leafOf('kubelet-serving', `system:node:${NODE}`, {
    usage: 'server',
    dnsNames: [NODE],
  });
  const clientCa = join(root, '/etc/kubernetes/pki/kubelet/client-ca.crt');
  using kubelet = await startKubeletEndpoint(serving, await readFile(clientCa, 'utf8'));
  const at = (port: number) => `https://127.0.0.1:${world.plane.port(port)}`;
  const endpoints = { api: at(6443), etcd: at(2379), etcdPeer: at(2380), kubelet: kubelet.url };
  const paths = hostPaths(root, endpoints);

  const env = {
    LD_PRELOAD: LIBRARY,
    FAKETIME: `+${DAYS_AHEAD}d`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DISABLE_SHM: '1',
  };
  const answers = await readinessThroughout(world, async () => {
    const args = [PROCESS, root, JSON.stringify(endpoints)];
    const { stdout } = await execa(process.execPath, args, { env, timeout: 300_000 });
    t.same(JSON.parse(stdout), { kind: 'done', note: `${leaves.length} renewed` });
  });
  for (const { name, certificate } of leaves) {
    const { notBefore, notAfter } = inspectCertificate(
      await readFile(paths.at(certificate), 'utf8'),
    );
    t.ok(notBefore.getTime() < Date.now(), `${name} is valid now`);
    t.ok(notAfter.getTime() > Date.now() + (DAYS_AHEAD + 360) * DAY_MS, `${name} is valid then`);
  }
  const attempts = await readAttempts(paths);
  t.ok(attempts.every(({ at: then }) => Date.parse(then) > Date.now() + 1400 * DAY_MS));
  t.same(
    answers.filter((answer) => answer !== 200),
    [],
  );

  const context = {
    paths,
    settings: defaultSettings,
    cluster,
    hostname: () => NODE,
    bootTime: async () => new Date(),
    run: 'the next one',
  };
  const log = createLogger({ write: (line) => t.comment(line.trim()), priorities: false });
  const deadline = performance.now() + 60_000;
  const progress = new Progress(AbortSignal.timeout(60_000), deadline, log, {
    waiting: () => true,
  });
  t.same(await renewLeaves.run(context, progress), { kind: 'done', note: 'none was due' });
});
