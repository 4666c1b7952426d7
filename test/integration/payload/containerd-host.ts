import { createHash } from 'node:crypto';
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { execa } from 'execa';
import type { Test } from 'tap';
import { pack } from 'tar-stream';
import { type Component, ensureComponent } from '../../../lab/components/component.ts';
import { containerd, debianContainerd } from '../../../lab/components/containerd.ts';
import { attachLoopDevice, detachLoopDevice } from '../../../lab/host/loop.ts';
import { createLogger } from '../../../lib/base/log/logger.ts';
import { connectRuntime } from '../../../lib/clients/cri/runtime.ts';
import { RpcFailure } from '../../../lib/clients/grpc/failure.ts';
import { Progress } from '../../../lib/engine/steps/progress.ts';
import { hostArchitecture } from '../../../lib/host/architecture.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { writeImageArchive } from '../../../lib/payload/image/write.ts';

/** The series of containerd that a host may have, with where their programs come from. */
export const SERIES: Readonly<Record<string, Component>> = {
  '1.6': debianContainerd,
  '2.4': containerd,
};
const DEADLINE_MS = 60_000;
const soon = () => AbortSignal.timeout(DEADLINE_MS);
const run = (program: string, ...args: string[]) => execa(program, args, { timeout: DEADLINE_MS });

/** A program of that many bytes that no two layers have in common. */
export const program = (name: string, bytes: number): Buffer => {
  const block = createHash('sha512').update(name).digest();
  return Buffer.alloc(bytes, block);
};

type Tree = Readonly<Record<string, Buffer | { readonly link: string }>>;

async function layerFile(folder: string, name: string, tree: Tree) {
  const path = join(folder, `${name}.layer`);
  const tar = pack();
  for (const [name, contents] of Object.entries(tree)) {
    if (Buffer.isBuffer(contents)) tar.entry({ name, mode: 0o755 }, contents);
    else tar.entry({ name, type: 'symlink', linkname: contents.link });
  }
  tar.finalize();
  await pipeline(tar, createWriteStream(path));
  return { path, diffId: sha256(readFileSync(path)) };
}

/** What each image has in its upper layer, by its name; both have the same lower one. */
export const PROGRAMS: Readonly<Record<string, Tree>> = {
  pause: { pause: program('pause', 300_000) },
  etcd: {
    'usr/local/bin/etcd': program('etcd', 3_000_000),
    'lib/clients/etcd.so': program('so', 9_000),
  },
};
export const BASE: Tree = { 'etc/os-release': program('base', 200_000), lib: { link: '/usr/lib' } };

/** A payload with two images and one binary. */
async function writePayload(folder: string) {
  mkdirSync(join(folder, 'images'), { recursive: true });
  mkdirSync(join(folder, 'bin'), { recursive: true });
  const base = await layerFile(folder, 'base', BASE);
  const architecture = hostArchitecture();
  const images = [];
  for (const [name, tree] of Object.entries(PROGRAMS)) {
    const layers = [base, await layerFile(folder, name, tree)];
    const config = Buffer.from(
      JSON.stringify({
        ...{ architecture, os: 'linux', config: { Entrypoint: [`/${name}`] } },
        rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => `sha256:${diffId}`) },
      }),
    );
    const archive = `images/${name}.tar`;
    const path = join(folder, archive);
    const reference = `r.test/${name}:1`;
    const id = await writeImageArchive(path, { reference, config, layers }, soon());
    const size = (await stat(path)).size;
    const digest = (await run('sha256sum', path)).stdout.slice(0, 64);
    images.push({ name, reference, id, archive, size, sha256: digest });
  }
  writeFileSync(join(folder, 'bin/kubelet'), 'kubelet');
  const kubelet = { file: 'bin/kubelet', size: 7, sha256: sha256('kubelet') };
  writeFileSync(
    join(folder, 'payload.yaml'),
    JSON.stringify({
      ...{ apiVersion: 'sno-agents/v1', kind: 'Payload', architecture, images },
      versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
      binaries: [{ name: 'kubelet', ...kubelet }],
    }),
  );
  return images;
}

/**
 * A host whose root is an ext4 file system on a loop device, with a containerd of that series: what was not synced when
 * the power is cut is lost.
 */
export async function containerdHost(t: Test, series: Component) {
  const programs = await ensureComponent(series, {
    signal: AbortSignal.timeout(30 * 60_000),
    report: (line) => t.comment(line),
  });
  // The path of a socket must be short.
  const folder = mkdtempSync('/tmp/sno-ctr-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const payload = join(folder, 'payload');
  const images = await writePayload(payload);
  const disk = join(folder, 'disk.raw');
  await run('truncate', '--size=256M', disk);
  await run('mkfs.ext4', '-q', disk);
  const device = await attachLoopDevice(disk, {}, soon());
  t.teardown(() => detachLoopDevice(device, soon()));
  const root = join(folder, 'r');
  mkdirSync(root);
  const paths = hostPaths(root);
  const socket = paths.runtimeSockets[0];
  const ctr = (...args: string[]) =>
    run(join(programs, 'ctr'), '--address', socket, '--namespace', 'k8s.io', ...args);

  let stop = async (): Promise<void> => undefined;
  t.teardown(() => stop());
  const boot = async () => {
    await run('mount', device, root);
    // Like everything in /run, lost in a power cut.
    await rm(paths.at('/run'), { recursive: true, force: true });
    mkdirSync(dirname(socket), { recursive: true });
    const configuration = join(folder, 'config.toml');
    writeFileSync(
      configuration,
      [
        'version = 2',
        `root = "${paths.at('/var/lib/containerd')}"`,
        `state = "${paths.at('/run/containerd/state')}"`,
        `[grpc]\naddress = "${socket}"`,
        `[ttrpc]\naddress = "${socket}.ttrpc"`,
        '[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "k8s.test/pause:3"',
        '[plugins."io.containerd.cri.v1.images".pinned_images]\nsandbox = "k8s.test/pause:3"',
        '[plugins."io.containerd.internal.v1.opt"]',
        `path = "${join(folder, 'opt')}"`,
      ].join('\n'),
    );
    const server = execa(join(programs, 'containerd'), ['--config', configuration], {
      ...{ reject: false, stdin: 'ignore', all: true, cleanup: true },
    });
    stop = async () => {
      server.kill('SIGKILL');
      await server;
      await execa('umount', [root], { reject: false, timeout: DEADLINE_MS });
      stop = async () => undefined;
    };
    using runtime = connectRuntime(socket);
    const limits = { signal: soon(), deadlineMs: DEADLINE_MS, waitForReady: true };
    const isServed = () =>
      runtime.version(limits).then(
        () => true,
        (error: unknown) => {
          // For a moment it answers that it is not initialized yet.
          if (error instanceof RpcFailure && error.status === status.UNKNOWN) return false;
          throw error;
        },
      );
    while (!(await isServed())) await sleep(50, undefined, limits);
  };
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(String(line)) > 0 });
  const progress = new Progress(soon(), performance.now() + DEADLINE_MS, log, {
    waiting: () => true,
  });
  return {
    payload,
    images,
    paths,
    programs,
    socket,
    root,
    folder,
    ctr,
    boot,
    progress,
    lines,
    stop: () => stop(),
  };
}
