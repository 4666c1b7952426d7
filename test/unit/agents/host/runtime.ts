import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Test } from 'tap';
import { type Handlers, serveRuntime } from '../../clients/cri/serve-runtime.ts';
import type { TestHost } from './host.ts';

/** A container as described by a test; it is running unless it has a state. */
export interface FakeContainer {
  readonly name: string;
  readonly state?: 'running' | 'exited' | 'created';
  /** When it was created, ISO 8601. */
  readonly createdAt?: string;
  /** The id of its pod's sandbox. */
  readonly sandbox?: string;
  /** Paths of the host. */
  readonly mounts?: readonly string[];
  /** Listed, but removed when its status is requested. */
  readonly isGone?: true;
}

const describe = ({ name, state = 'running', createdAt, sandbox }: FakeContainer) => ({
  id: `id-of-${name}`,
  ...(createdAt === undefined ? {} : { createdAt: `${Date.parse(createdAt)}000000` }),
  ...(sandbox === undefined ? {} : { podSandboxId: sandbox }),
  metadata: { name },
  state: `CONTAINER_${state.toUpperCase()}`,
});

/**
 * A container runtime at the host's own socket. `containers` is called for each request, so that
 * it can depend on the host's files. Other calls must be added with `more`.
 */
export async function fakeRuntime(
  t: Test,
  host: TestHost,
  containers: () => readonly FakeContainer[],
  more: Handlers = {},
): Promise<void> {
  const [socket = ''] = host.paths.runtimeSockets;
  mkdirSync(dirname(socket), { recursive: true });
  const server = await serveRuntime(socket, {
    Version: () => ({ runtimeName: 'containerd', runtimeVersion: '2.4.2' }),
    ListContainers: () => ({ containers: containers().map(describe) }),
    ContainerStatus: (request) => {
      const found = containers().find((each) =>
        JSON.stringify(request).includes(`"${describe(each).id}"`),
      );
      if (found === undefined || found.isGone === true) throw new Error('no such container');
      const mounts = (found.mounts ?? []).map((path) => ({ hostPath: host.at(path) }));
      return { status: { ...describe(found), mounts }, info: {} };
    },
    ...more,
  });
  t.teardown(() => server.forceShutdown());
}
