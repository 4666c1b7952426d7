import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { exists } from '../../lib/host/files.ts';
import type { Host } from '../host/host.ts';
import { DOMAIN } from '../site.ts';
import { importHelloImage } from '../test-workload.ts';
import type { RunningCheck } from './check.ts';
import { expectNoFailedUnit } from './failed-units.ts';
import { kubectl } from './kubectl.ts';
import { deployOnBoth, expectFlannelOn, podsReachEachOther } from './pod-routes.ts';

const nodeSchema = z.object({
  spec: z.object({ podCIDR: z.string(), taints: z.array(z.unknown()).optional() }),
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) }),
});

/** What a worker promises once it has joined. */
export function workerChecks(worker: Host): readonly RunningCheck[] {
  const name = `${worker.identity.name}.${DOMAIN}`;
  return [
    {
      name: 'its Node is Ready, without a taint, with subnets of its own',
      run: async (cluster, signal) => {
        const text = await kubectl(cluster, ['get', 'node', name, '-o', 'json'], signal);
        const { spec, status } = nodeSchema.parse(JSON.parse(text));
        const ready = status.conditions.find(({ type }) => type === 'Ready')?.status;
        if (ready !== 'True' || (spec.taints ?? []).length > 0) {
          throw new Failure('fatal', 'the worker does not run pods', { found: text });
        }
      },
    },
    {
      name: 'pods of both nodes reach each other by the names of Services',
      run: async (cluster, signal) => {
        for (const host of [cluster.host, worker]) {
          await importHelloImage(host, join(cluster.folder, `${host.identity.name}.tar`), signal);
        }
        await expectFlannelOn(cluster, 2, signal);
        const nodes = {
          'on-first': `${cluster.host.identity.name}.${DOMAIN}`,
          'on-worker': name,
        };
        await deployOnBoth(cluster, nodes, signal);
        await podsReachEachOther(cluster, signal);
      },
    },
    {
      name: 'the logs of a pod on it can be read',
      run: async (cluster, signal) => {
        // An error is no output.
        await kubectl(cluster, ['logs', 'deployment/on-worker'], signal);
      },
    },
    {
      name: 'nothing of the installation is left on it, above all no token',
      run: async (_cluster, signal) => {
        const gone = [
          'etc/sno-agents/worker-bootstrap.kubeconfig',
          'etc/sno-agents/leftovers.json',
          'etc/systemd/system/sno-worker.service',
          'var/lib/sno-agents/worker',
          'boot/ignition',
        ];
        for (const path of gone) {
          if (await exists(join(worker.rootDir, path))) {
            throw new Failure('fatal', `/${path} is left on the worker`);
          }
        }
        const search = [
          'grep',
          '-rlE',
          'bootstrap-token|worker-bootstrap',
          '/etc',
          '/var/lib/kubelet',
        ];
        const { stdout } = await worker.exec(search, { timeoutMs: 20_000 }, signal);
        if (stdout.trim() !== '') {
          throw new Failure('fatal', 'the token is left on the worker', { found: stdout });
        }
        await expectNoFailedUnit(worker, signal);
      },
    },
  ];
}
