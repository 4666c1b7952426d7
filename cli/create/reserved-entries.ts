import { hostPaths } from '../../lib/host/paths.ts';
import type { ConfigFault, IgnitionConfig } from '../../lib/render/ignition/config.ts';
import { ownAioUnits } from '../../units/aio.ts';
import { inPlaceUnit } from '../../units/in-place.ts';
import {
  deferredUnit,
  nodeUnits,
  pivotUnits,
  progressUnit,
  unsealUnit,
} from '../../units/installed.ts';
import { liveUnits, networkUnit } from '../../units/live.ts';
import { joinedWorkerUnits, ownWorkerUnits } from '../../units/worker.ts';

/** Folders whose files belong to Kubernetes and to the agents, on every host that they install. */
const FOLDERS = [
  ...['/etc/kubernetes', '/etc/sno-agents', '/etc/cni', '/opt/cni', '/opt/openshift'],
  ...['/var/lib/sno-agents', '/var/lib/kubelet', '/var/lib/etcd', '/var/log/sno-agents'],
  ...['/var/opt/cni', '/var/opt/openshift', '/run'],
];

const UNITS: ReadonlySet<string> = new Set(
  [
    ...[...nodeUnits, ...pivotUnits, ...liveUnits, ...ownAioUnits, ...ownWorkerUnits],
    ...[...joinedWorkerUnits, deferredUnit, progressUnit, unsealUnit, networkUnit, inPlaceUnit],
  ].map(({ name }) => name),
);

/**
 * Entries in places that are this program's, whether or not it writes that entry: what it writes depends on the
 * host, and is removed at the end.
 */
export function reservedFaults({ storage, systemd }: IgnitionConfig): ConfigFault[] {
  const { files = [], directories = [], links = [] } = storage ?? {};
  const paths = [...files, ...directories, ...links].map(({ path }) => path);
  const units = (systemd?.units ?? []).filter(({ name, dropins: _, ...rest }) => {
    return UNITS.has(name) && Object.values(rest).some((value) => value !== undefined);
  });
  return [
    ...paths.flatMap((path) => {
      const folder = FOLDERS.find((each) => path === each || path.startsWith(`${each}/`));
      return folder === undefined ? [] : [{ at: path, problem: reason(path, folder) }];
    }),
    ...units.map(({ name }) => ({
      at: name,
      problem: 'is a unit of this program: only drop-ins can be added to it',
    })),
  ];
}

function reason(path: string, folder: string): string {
  if (path === `${hostPaths().config}/settings.json`) return 'is made by --settings and --set';
  return `is in ${folder}, whose files belong to Kubernetes and the agents`;
}
