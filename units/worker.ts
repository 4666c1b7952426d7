import { readFileSync } from 'node:fs';
import { workerKubeletRequires } from '../lib/engine/agents/table.ts';
import { executableUnits } from './aio.ts';
import { nodeUnits, progressUnit } from './installed.ts';
import type { UnitFile } from './unit-file.ts';

/** Units of every node that a worker has, too: the others serve a control plane. */
const FROM_NODE = [
  'sno-label.service',
  'sno-gather.service',
  'kubelet.service',
  'sno-trial.service',
  'sno-trial.timer',
  'sno-update.service',
  ...workerKubeletRequires,
];

/** Gone once the worker has joined. */
const JOINING = 'sno-worker.service';

/** Enabled by the step kubelet, which has given them what they need. */
const ENABLED_LATER = [...workerKubeletRequires, 'kubelet.service'];

/** Those that only a worker has. */
export const ownWorkerUnits: readonly UnitFile[] = [
  {
    name: 'sno-api.socket',
    enabled: true,
    contents: readFileSync(new URL('./worker/sno-api.socket', import.meta.url), 'utf8'),
  },
  // Started by its socket.
  {
    name: 'sno-api.service',
    enabled: false,
    contents: readFileSync(new URL('./worker/sno-api.service', import.meta.url), 'utf8'),
  },
  {
    name: JOINING,
    enabled: true,
    contents: readFileSync(new URL('./worker/sno-worker.service', import.meta.url), 'utf8'),
  },
  // Started by its timer.
  {
    name: 'sno-worker-trust.service',
    enabled: false,
    contents: readFileSync(new URL('./worker/sno-worker-trust.service', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-worker-trust.timer',
    enabled: true,
    contents: readFileSync(new URL('./worker/sno-worker-trust.timer', import.meta.url), 'utf8'),
  },
];

const fromNode = nodeUnits.filter(({ name }) => FROM_NODE.includes(name));

/** The units of a worker that has joined. */
export const joinedWorkerUnits: readonly UnitFile[] = [
  ...fromNode,
  ...ownWorkerUnits.filter(({ name }) => name !== JOINING),
];

/** The units of a worker, put into its Ignition by `sno create worker-ignition`. */
export const workerUnits = (source: 'medium' | 'url'): readonly UnitFile[] => [
  ...fromNode.map((unit) =>
    ENABLED_LATER.includes(unit.name) ? { ...unit, enabled: false } : unit,
  ),
  ...executableUnits(source),
  progressUnit,
  ...ownWorkerUnits,
];
