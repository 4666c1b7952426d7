import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { createLogger } from '../../../lib/base/log/logger.ts';
import { RUNTIMES, type RuntimeKind } from '../../../lib/clients/cri/kind.ts';
import { Progress } from '../../../lib/engine/steps/progress.ts';
import { hostArchitecture } from '../../../lib/host/architecture.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { serveRuntime } from '../../unit/clients/cri/serve-runtime.ts';

const signal = AbortSignal.timeout(120_000);
export const ID = `sha256:${'c'.repeat(64)}`;
export const FILES = {
  'images/etcd.tar': 'tar',
  'bin/kubelet': 'kubelet 1',
  'cni/bridge': 'bridge 1',
};
export const PIN = 'io.cri-containerd.pinned=pinned';

export function description(): string {
  const of = (path: keyof typeof FILES) => ({
    size: FILES[path].length,
    sha256: sha256(FILES[path]),
  });
  const archive = 'images/etcd.tar';
  return JSON.stringify({
    apiVersion: 'sno-agents/v1',
    kind: 'Payload',
    architecture: hostArchitecture(),
    versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
    images: [{ name: 'etcd', reference: 'r.test/etcd:1', id: ID, archive, ...of(archive) }],
    binaries: [
      { name: 'kubelet', file: 'bin/kubelet', ...of('bin/kubelet') },
      { name: 'bridge', kind: 'cni', file: 'cni/bridge', ...of('cni/bridge') },
    ],
  });
}

/** A host with a payload, a runtime, and programs that record their calls. */
export async function host(t: Test, kind: RuntimeKind = 'containerd') {
  const folder = t.testdir({
    payload: { images: {}, bin: {}, cni: {} },
    programs: {},
    calls: '',
  });
  for (const [path, text] of Object.entries({ ...FILES, 'payload.yaml': description() })) {
    writeFileSync(join(folder, 'payload', path), text);
  }
  const calls = join(folder, 'calls');
  const program = (name: string, body = '') => {
    const path = join(folder, 'programs', name);
    writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "${name} $*" >> ${calls}\n${body}`);
    chmodSync(path, 0o755);
  };
  for (const name of ['sync', 'systemd-run', 'systemctl']) program(name);
  program('ctr');
  const before = process.env.PATH;
  process.env.PATH = `${join(folder, 'programs')}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
  const stored = new Map<string, { id: string; pinned: boolean }>();
  /** References that the runtime was asked about, and those that it does not know yet. */
  const asked: string[] = [];
  const unheard = new Set<string>();
  const called = () => readFileSync(calls, 'utf8').trimEnd().split('\n');
  // The path of a unix socket must be short.
  const root = mkdtempSync('/tmp/sno-cri-');
  t.teardown(() => rmSync(root, { recursive: true }));
  const paths = hostPaths(root);
  const socket = paths.runtimeSockets[RUNTIMES.indexOf(kind)] ?? '';
  mkdirSync(dirname(socket), { recursive: true });
  const server = await serveRuntime(socket, {
    Status: () => ({
      status: { conditions: [] },
      info: { config: '{"sandboxImage":"k8s/pause"}' },
    }),
    RuntimeConfig: () => ({ linux: { cgroupDriver: 'SYSTEMD' } }),
    ImageStatus: (request) => {
      const reference = /"image":"([^"]*)"/.exec(JSON.stringify(request))?.[1] ?? '';
      asked.push(reference);
      if (unheard.has(reference)) return { image: null };
      const imported = / images import | podman load /.test(readFileSync(calls, 'utf8'));
      const known = stored.get(reference) ?? (imported ? { id: ID, pinned: false } : undefined);
      return { image: known === undefined ? null : { ...known, repoTags: [reference] } };
    },
  });
  t.teardown(() => server.forceShutdown());
  for (const store of ['/var/lib/containerd', '/var/lib/containers']) {
    mkdirSync(paths.at(store), { recursive: true });
  }
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(String(line)) > 0 });
  const progress = new Progress(signal, performance.now() + 60_000, log, { waiting: () => true });
  const payload = join(folder, 'payload');
  return {
    folder,
    payload,
    paths,
    progress,
    lines,
    stored,
    asked,
    unheard,
    called,
    program,
    socket,
  };
}
