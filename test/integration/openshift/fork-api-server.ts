import { join } from 'node:path';
import type t from 'tap';
import { type ControlPlane, startControlPlane } from '../../../lab/servers/control-plane.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import { applyManifests } from '../../../lib/clients/kube/apply.ts';
import { failureTable } from '../../../lib/clients/kube/apply-table.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';

/** OpenShift's API server with a real etcd, for one test. */
export interface ForkApiServer {
  /** New, for the test's files. */
  readonly folder: string;
  readonly controlPlane: ControlPlane;
  readonly admin: KubeClient;
  readonly limits: Limits;
  /** Creates the objects of a manifest; a refused one fails the test. */
  apply(name: string, contents: string): Promise<void>;
}

/** `kubernetes`: the folder with the programs of the fork; `args`: more of its arguments. It ends with the test. */
export async function startForkApiServer(
  test: Pick<typeof t, 'testdir' | 'teardown' | 'same'>,
  kubernetes: string,
  lifetimeMs: number,
  args: readonly string[] = [],
): Promise<ForkApiServer> {
  const folder = test.testdir();
  const stop = new AbortController();
  const { signal } = stop;
  const limits = { signal, deadlineMs: 60_000 };
  const controlPlane = await startControlPlane(join(folder, 'control-plane'), signal, {
    program: join(kubernetes, 'kube-apiserver'),
    args: ['--allow-privileged=true', ...args],
    lifetimeMs,
  });
  test.teardown(() => controlPlane.stop());
  const admin = await controlPlane.client();
  test.teardown(() => admin[Symbol.dispose]());
  test.teardown(() => stop.abort());
  const apply = async (name: string, contents: string) => {
    const { manifests } = decodeManifests(name, contents);
    const options = { ...limits, concurrency: 4, report: () => undefined };
    const rows = await applyManifests(admin, { manifests, faults: [] }, options);
    test.same(failureTable(rows), [], name);
  };
  return { folder, controlPlane, admin, limits, apply };
}
