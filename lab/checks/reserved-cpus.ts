import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { parseCpuSet } from '../../lib/host/cpu-set.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const RESERVED = '0';
const SETTINGS = {
  'kubelet.service': 'CPUAffinity',
  'sno-renew.service': 'CPUAffinity',
  'sno-gather.service': 'CPUAffinity',
  // In control groups of version 2 only; this is what systemd was told.
  'containerd.service': 'AllowedCPUs',
} as const;

const statusSchema = z.object({
  items: z.tuple([
    z.object({
      status: z.object({
        capacity: z.object({ cpu: z.coerce.number() }),
        allocatable: z.object({ cpu: z.coerce.number() }),
      }),
    }),
  ]),
});

const stateSchema = z.object({ policyName: z.string(), defaultCpuSet: z.string() });

/** Of a host with `reservedCPUs: 0`. */
export const reservedCpus: RunningCheck = {
  name: "the node's own processes stay on the reserved CPU, and its containers may use every CPU",
  run: async (cluster, signal) => {
    const { host } = cluster;
    for (const [unit, setting] of Object.entries(SETTINGS)) {
      const show = ['systemctl', 'show', `--property=${setting}`, '--value', unit];
      const { stdout } = await host.exec(show, { timeoutMs: 10_000 }, signal);
      expect(unit, RESERVED, stdout.trim());
    }
    const status = ['get', 'nodes', '-o', 'json'];
    const [node] = statusSchema.parse(JSON.parse(await kubectl(cluster, status, signal))).items;
    const { capacity, allocatable } = node.status;
    expect('allocatable CPUs', `${capacity.cpu - 1}`, `${allocatable.cpu}`);
    const state = join(host.rootDir, 'var/lib/kubelet/cpu_manager_state');
    const { policyName, defaultCpuSet } = stateSchema.parse(
      JSON.parse(await readFile(state, 'utf8')),
    );
    expect('policy of the CPU manager', 'static', policyName);
    // What a process inherits from the runtime must not keep a container from the other CPUs.
    const found = await cpusOfContainer(cluster, signal);
    expect('CPUs of a container', `${parseCpuSet(defaultCpuSet)}`, `${parseCpuSet(found)}`);
  },
};

async function cpusOfContainer(cluster: RunningCluster, signal: AbortSignal): Promise<string> {
  const args = ['exec', 'deployment/hello', '--', 'busybox', 'grep', 'Cpus_allowed_list'];
  const line = await kubectl(cluster, [...args, '/proc/1/status'], signal);
  return line.replace('Cpus_allowed_list:', '').trim();
}

function expect(what: string, expected: string, found: string): void {
  if (found !== expected) {
    throw new Failure('fatal', `the CPUs are not divided: ${what}`, { expected, found });
  }
}
