import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { signedRights } from '../../../agents/steps/host-context.ts';
import { concludeRotation } from '../../../agents/upkeep/rotate/conclude.ts';
import type { RotateContext } from '../../../agents/upkeep/rotate/context.ts';
import { overlap } from '../../../agents/upkeep/rotate/overlap.ts';
import { trustBoth, trustNew, useNew } from '../../../agents/upkeep/rotate/phases.ts';
import { stageRotation } from '../../../agents/upkeep/rotate/stage.ts';
import { workers } from '../../../agents/upkeep/rotate/workers.ts';
import { createLogger } from '../../../lib/base/log/logger.ts';
import {
  requestRotation,
  rotationChange,
  rotationFolder,
  type What,
} from '../../../lib/change/rotation/request.ts';
import { Progress } from '../../../lib/engine/steps/progress.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { namesIn } from '../../../lib/host/files.ts';
import { type HostPaths, hostPaths } from '../../../lib/host/paths.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { kubeletPaths, kubeletTrust } from '../../../lib/render/kubernetes/kubelet.ts';
import { cluster } from '../../unit/agents/host/cluster.ts';
import { FakePrograms } from '../../unit/agents/host/programs.ts';
import { textAt } from '../../unit/render/rendered-host.ts';
import type { Caller } from './request.ts';
import { StaticPodKeeper } from './static-pod-keeper.ts';
import { leafOf, NODE, startWorld, type World } from './world.ts';

const STEP_MS = 240_000;
/** All that the plan has for a host whose CAs may sign their successors. */
const STEPS = [stageRotation, trustBoth, workers, useNew, overlap, trustNew, concludeRotation];

export interface RotatingHost {
  readonly world: World;
  readonly paths: HostPaths;
  readonly keeper: StaticPodKeeper;
  /** Requests a rotation and runs it to its end; `after` is called after each step. */
  rotate(what: What, after?: (step: StepBody<RotateContext>) => Promise<void>): Promise<void>;
  /** The status with which the API server answers who is calling. Trusts its first authority. */
  statusFor(caller: Caller): Promise<number>;
  /** Nothing but the record remains of a rotation, and no other pod was restarted. */
  hasEnded(t: Test, restarted: readonly string[]): Promise<void>;
  /** Requests a rotation. */
  request(what: What): Promise<RotateContext>;
  /** What an agent that is started now sees. */
  context(): Promise<RotateContext>;
  /** `onWait` is called when what is waited for changes. */
  progress(signal?: AbortSignal, onWait?: () => void): Progress;
}

/** A control plane in a folder, with a kubelet as far as rotations see it. */
export async function rotatingHost(t: Test, root: string): Promise<RotatingHost> {
  const host = join(root, 'host');
  await kubeletFiles(hostPaths(host));
  // The server below always has the present files, and has been running for long.
  new FakePrograms(t, join(root, 'bin'), host, 'real').give('systemctl', SYSTEMCTL);
  const world = await startWorld(host);
  t.teardown(() => world.stop());
  const kubelet = await startKubelet(t, hostPaths(host));
  const at = (port: number) => `https://127.0.0.1:${port}`;
  const paths = hostPaths(host, {
    api: at(world.plane.port(6443)),
    etcd: at(world.plane.port(2379)),
    etcdPeer: at(world.plane.port(2380)),
    kubelet: at(kubelet),
  });
  const node = { metadata: { name: NODE } };
  const { code } = await world.api({
    ...world.node,
    method: 'POST',
    path: '/api/v1/nodes',
    body: node,
  });
  if (code !== 201) throw new Error(`the node was not created: ${code}`);
  const keeper = await StaticPodKeeper.start(world, paths);
  t.teardown(() => keeper.stop());
  const request = async (what: What): Promise<RotateContext> => {
    await requestRotation(paths, { what, restartWorkloads: false });
    return context();
  };
  const context = async (): Promise<RotateContext> => {
    const requested = await rotationChange.read(paths);
    if (requested === undefined) throw new Error('no request');
    return {
      paths,
      // Nothing but this test is connected for long.
      settings: { ...defaultSettings, rotateOverlapMs: 1, rotateTokensMs: 1 },
      cluster,
      ...signedRights({ paths, cluster }),
      hostname: () => NODE,
      bootTime: async () => new Date(),
      run: 'this',
      request: requested,
      // The rules are about the ports of a real host; this one has others.
      runNft: async () => undefined,
    };
  };
  const progress = (
    signal: AbortSignal = AbortSignal.timeout(STEP_MS),
    onWait: () => void = () => {},
  ): Progress => {
    const log = createLogger({ write: (line) => t.comment(line.trim()), priorities: false });
    return new Progress(signal, performance.now() + STEP_MS, log, {
      waiting: () => {
        onWait();
        return true;
      },
    });
  };
  return {
    world,
    paths,
    keeper,
    async rotate(what, after = async () => {}) {
      keeper.restarts.length = 0;
      const requested = await request(what);
      for (const step of STEPS) {
        await step.run(requested, progress());
        await after(step);
      }
    },
    async statusFor(caller) {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      return (await world.api({ ...caller, method: 'POST', path, body })).code;
    },
    async hasEnded(t, restarted) {
      t.same(await namesIn(rotationFolder(paths)), ['last.json']);
      t.same((await rotationChange.last(paths))?.restarted, restarted);
      const pods = restarted.filter((name) => name !== 'kubelet');
      t.same([...new Set(keeper.restarts)].toSorted(), pods, 'no other pod restarted');
    },
    request,
    context,
    progress,
  };
}

/** The kubelet's two certificates, behind links. */
async function kubeletFiles(paths: HostPaths): Promise<void> {
  const user = `system:node:${NODE}`;
  const organizations = ['system:nodes'];
  const client = await leafOf('kubelet-client', user, { organizations });
  const serving = await leafOf('kubelet-serving', user, {
    organizations,
    usage: 'server',
    dnsNames: [NODE],
  });
  await mkdir(paths.staticPods, { recursive: true });
  await mkdir(paths.kubeletPki, { recursive: true });
  await mkdir(dirname(paths.at(kubeletTrust.api)), { recursive: true });
  await writeFile(paths.at(kubeletTrust.api), textAt(kubeletTrust.api));
  for (const [link, { certificate, key }] of [
    [kubeletPaths.clientPair, client],
    [kubeletPaths.servingPair, serving],
  ] as const) {
    const dated = link.replace('current', '2026-01-31-00-00-00');
    await writeFile(paths.at(dated), certificate + key, { mode: 0o600 });
    await symlink(dated.slice(dirname(dated).length + 1), paths.at(link));
  }
}

const SYSTEMCTL = `case "$*" in
  "restart kubelet.service") ;;
  "show kubelet.service "*) echo ActiveEnterTimestampMonotonic=1 ;;
  *) exit 1 ;;
esac`;

/** A server that accepts the clients that the kubelet accepts. Returns its port. */
async function startKubelet(t: Test, paths: HostPaths): Promise<number> {
  const read = (path: string) => readFileSync(paths.at(path), 'utf8');
  const files = () => {
    const pair = read(kubeletPaths.servingPair);
    return { cert: pair, key: pair, ca: read('/etc/kubernetes/pki/kubelet/client-ca.crt') };
  };
  const server = createServer(
    { requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const { socket } = request;
      const isKnown = 'authorized' in socket && socket.authorized === true;
      response.writeHead(isKnown ? 200 : 401).end();
    },
  );
  server.prependListener('connection', () => server.setSecureContext(files()));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  t.teardown(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
