import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { onHost } from '../host/on-host.ts';
import type { RunningCheck } from './check.ts';
import { expectNoFailedUnit } from './failed-units.ts';

/** Shows that systemd has been asked for units at all. */
const STAYS = 'kubelet.service';

const agentsGone: RunningCheck = {
  name: 'no agent runs, no unit has failed, and nothing of the installation is left',
  run: async (cluster, signal) => {
    const processes = await onHost(cluster.host, ['ps', '-eo', 'args'], signal);
    if (!processes.includes('systemd')) throw new Error('ps does not list the processes');
    const agents = processes.split('\n').filter((line) => line.includes('/bin/sno-agents'));
    if (agents.length > 0) {
      throw new Failure('fatal', 'agents still run', { found: agents.join(', ') });
    }
    await expectNoFailedUnit(cluster.host, signal);
    const names = ['aiokube.service', 'sno-executable.service', 'progress.service', STAYS];
    const units = ['systemctl', 'list-unit-files', '--no-legend', '--plain', ...names];
    const listed = (await onHost(cluster.host, units, signal)).split('\n');
    const stays = (line: string) => line.startsWith(STAYS);
    if (!listed.some(stays)) throw new Failure('fatal', `systemd does not list ${STAYS}`);
    const left = listed.filter((line) => !stays(line));
    if (left.length > 0) throw new Failure('fatal', 'units are left', { found: left.join(', ') });
    // Empty folders may stay.
    const assets = join(cluster.host.rootDir, 'opt/openshift');
    const entries = await readdir(assets, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
    if (files.join() !== '.aiokube.done') {
      throw new Failure('fatal', 'files are left in /opt/openshift', { found: files.join(', ') });
    }
  },
};

/** What an all-in-one host promises beside a running cluster. */
export const allInOne: readonly RunningCheck[] = [agentsGone];
