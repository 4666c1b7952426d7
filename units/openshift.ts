import { readFileSync } from 'node:fs';
import { installedGatherUnit } from './gather.ts';
import { nodeUnits } from './installed.ts';
import { labelUnit } from './live.ts';
import { reportUnits } from './report.ts';
import type { UnitFile } from './unit-file.ts';

// Literal paths: the build puts the files into the executable.
const payload = readFileSync(
  new URL('./installed/openshift/sno-payload.service', import.meta.url),
  'utf8',
);
const restore = readFileSync(
  new URL('./installed/openshift/sno-restore.conf', import.meta.url),
  'utf8',
);

const system = '/etc/systemd/system';

/**
 * What an installed host of OpenShift has besides the units of every installed host (`pivotUnits`)
 * and those of its machine config, such as kubelet.service. None is enabled: sno-restore requires the
 * first, which wants the second, and a failure starts the third.
 */
export const openShiftInstalledFiles: readonly { path: string; contents: string }[] = [
  { path: `${system}/sno-payload.service`, contents: payload },
  { path: `${system}/${labelUnit.name}`, contents: labelUnit.contents },
  { path: `${system}/${installedGatherUnit.name}`, contents: installedGatherUnit.contents },
  {
    path: `${system}/sno-restore.service.d/10-openshift.conf`,
    contents: restore,
  },
];

const OF_RELOCATABLE: readonly string[] = [
  labelUnit.name,
  installedGatherUnit.name,
  'sno-trial.service',
  'sno-trial.timer',
  'reconfigure.service',
  ...reportUnits.map(({ name }) => name),
  'sno-site-url.service',
  'sno-site-url.timer',
];

/** What they need besides, behind their own sections: systemd reads a section again. */
const MORE: Readonly<Record<string, string>> = {
  'reconfigure.service': readFileSync(
    new URL('./installed/openshift/reconfigure.conf', import.meta.url),
    'utf8',
  ),
  'sno-trial.service': readFileSync(
    new URL('./installed/openshift/sno-trial.conf', import.meta.url),
    'utf8',
  ),
};

/** No line of a unit can take an order back that another line gives. */
const BEHIND_RUNTIME = ' containerd.service crio.service\n';

/**
 * What a relocatable host of OpenShift has of the units of every installed host of the Kubernetes payload. `reconfigure prepare`
 * places them: the installation leaves none of the agents' units on OpenShift. There, no other unit wants that of the label.
 * CRI-O starts there behind the network of the pods, which waits for a default route without an end: at a site without DHCP only
 * the volume brings one, so nothing of this may wait for CRI-O.
 */
export const relocatableUnits: readonly UnitFile[] = nodeUnits
  .filter(({ name }) => OF_RELOCATABLE.includes(name))
  .map((unit) => ({
    ...unit,
    enabled: unit.enabled || unit.name === labelUnit.name,
    contents: withMore(unit.contents.replace(BEHIND_RUNTIME, '\n'), MORE[unit.name]),
  }));

function withMore(contents: string, more: string | undefined): string {
  return more === undefined ? contents : `${contents}\n${more}`;
}
