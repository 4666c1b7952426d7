import { readFileSync } from 'node:fs';
import { liveGatherUnit } from './gather.ts';
import { reportUnits } from './report.ts';
import type { UnitFile } from './unit-file.ts';

/** Both hosts run an executable that was copied into /var. */
export const labelUnit: UnitFile = {
  name: 'sno-label.service',
  enabled: true,
  contents: readFileSync(new URL('./sno-label.service', import.meta.url), 'utf8'),
};

/** Only where a site gives a networkConfig. */
export const networkUnit: UnitFile = {
  name: 'sno-network.service',
  enabled: true,
  contents: readFileSync(new URL('./live/sno-network.service', import.meta.url), 'utf8'),
};

/** The units of the live host, put into the Ignition by `sno create`. */
export const liveUnits: readonly UnitFile[] = [
  labelUnit,
  liveGatherUnit,
  {
    name: 'sno-executable.service',
    enabled: false,
    contents: readFileSync(new URL('./live/sno-executable.service', import.meta.url), 'utf8'),
  },
  {
    name: 'kubelet.service',
    enabled: false,
    contents: readFileSync(new URL('./live/kubelet.service', import.meta.url), 'utf8'),
  },
  {
    name: 'bootkube.service',
    enabled: false,
    contents: readFileSync(new URL('./live/bootkube.service', import.meta.url), 'utf8'),
  },
  {
    name: 'install-to-disk.service',
    enabled: true,
    contents: readFileSync(new URL('./live/install-to-disk.service', import.meta.url), 'utf8'),
  },
  {
    name: 'approve-csr.service',
    enabled: true,
    contents: readFileSync(new URL('./live/approve-csr.service', import.meta.url), 'utf8'),
  },
  {
    name: 'progress.service',
    enabled: true,
    contents: readFileSync(new URL('./live/progress.service', import.meta.url), 'utf8'),
  },
  ...reportUnits,
];

/** In place of the unit of that name where no medium has the executable: it is fetched. */
export const executableByUrl: UnitFile = {
  name: 'sno-executable.service',
  enabled: false,
  contents: readFileSync(new URL('./live/by-url/sno-executable.service', import.meta.url), 'utf8'),
};

interface Dropin {
  readonly unit: string;
  readonly name: string;
  readonly contents: string;
}

/** For units of the operating system. */
export const liveDropins: readonly Dropin[] = [
  {
    unit: 'reboot.target',
    name: '10-sno-deadline.conf',
    contents: readFileSync(new URL('./live/reboot-deadline.conf', import.meta.url), 'utf8'),
  },
];

/** What differs on a host whose control plane is OpenShift's: CRI-O, and the kubelet of the system. */
export const openShiftDropins: readonly Dropin[] = [
  {
    unit: 'bootkube.service',
    name: '10-openshift.conf',
    contents: readFileSync(new URL('./live/openshift/bootkube.conf', import.meta.url), 'utf8'),
  },
  {
    unit: 'kubelet.service',
    name: '10-openshift.conf',
    contents: readFileSync(new URL('./live/openshift/kubelet.conf', import.meta.url), 'utf8'),
  },
];
