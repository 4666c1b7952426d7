import { readFileSync } from 'node:fs';
import { installedGatherUnit } from './gather.ts';
import { labelUnit } from './live.ts';
import { reportUnits } from './report.ts';
import type { UnitFile } from './unit-file.ts';

/** Every node of the Kubernetes payload has these: they are part of the master Ignition. */
export const nodeUnits: readonly UnitFile[] = [
  labelUnit,
  installedGatherUnit,
  {
    name: 'kubelet.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/kubelet.service', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-payload.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-payload.service', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-certificates.service',
    enabled: true,
    contents: readFileSync(
      new URL('./installed/sno-certificates.service', import.meta.url),
      'utf8',
    ),
  },
  // Apart from sno-certificates, which is active for as long as the kubelet that requires it.
  {
    name: 'sno-renew.service',
    enabled: false,
    contents: readFileSync(new URL('./installed/sno-renew.service', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-renew.timer',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-renew.timer', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-renew.path',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-renew.path', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-backup.service',
    enabled: false,
    contents: readFileSync(new URL('./installed/sno-backup.service', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-backup.timer',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-backup.timer', import.meta.url), 'utf8'),
  },
  // After each backup and by its timer, on a host with a backup-to.json.
  {
    name: 'sno-backup-push.service',
    enabled: false,
    contents: readFileSync(new URL('./installed/sno-backup-push.service', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-backup-push.timer',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-backup-push.timer', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-backup-restore.service',
    enabled: true,
    contents: readFileSync(
      new URL('./installed/sno-backup-restore.service', import.meta.url),
      'utf8',
    ),
  },
  // Does nothing without a request.
  {
    name: 'sno-rotate.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-rotate.service', import.meta.url), 'utf8'),
  },
  // Does nothing without a request.
  {
    name: 'sno-identity.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-identity.service', import.meta.url), 'utf8'),
  },
  // Does nothing while the host has the addresses of its Node.
  {
    name: 'sno-address.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-address.service', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-address.socket',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-address.socket', import.meta.url), 'utf8'),
  },
  // Does nothing while no change is on trial.
  {
    name: 'sno-trial.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-trial.service', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-trial.timer',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-trial.timer', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-update.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-update.service', import.meta.url), 'utf8'),
  },
  // Nobody writes what it looks at on a host that reports to no hub.
  {
    name: 'sno-update.path',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-update.path', import.meta.url), 'utf8'),
  },
  // Looks for a site volume at each boot; udev starts it when one is inserted.
  {
    name: 'reconfigure.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/reconfigure.service', import.meta.url), 'utf8'),
  },
  // Started by its timer.
  {
    name: 'sno-site-url.service',
    enabled: false,
    contents: readFileSync(new URL('./installed/sno-site-url.service', import.meta.url), 'utf8'),
  },
  // Only while the host waits for its site.
  {
    name: 'sno-site-url.timer',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-site-url.timer', import.meta.url), 'utf8'),
  },
  // It ends at once when no worker is expected.
  {
    name: 'sno-approve.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-approve.service', import.meta.url), 'utf8'),
  },
  {
    name: 'sno-approve.path',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-approve.path', import.meta.url), 'utf8'),
  },
  ...reportUnits,
];

/** Only where the keys are sealed: the kubelet does not start without it. */
export const unsealUnit: UnitFile = {
  name: 'sno-unseal.service',
  enabled: true,
  contents: readFileSync(new URL('./installed/sno-unseal.service', import.meta.url), 'utf8'),
};

/** Until the installation is complete. */
export const progressUnit: UnitFile = {
  name: 'progress.service',
  enabled: true,
  contents: readFileSync(new URL('./installed/progress.service', import.meta.url), 'utf8'),
};

/** Needed once, after the reboot into the disk; the clean-up removes them. */
export const pivotUnits: readonly UnitFile[] = [
  {
    name: 'sno-restore.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/sno-restore.service', import.meta.url), 'utf8'),
  },
  progressUnit,
  {
    name: 'bootkube.service',
    enabled: true,
    contents: readFileSync(new URL('./installed/bootkube.service', import.meta.url), 'utf8'),
  },
];

/** Only where manifests are deferred; started at the end of the installation. */
export const deferredUnit: UnitFile = {
  name: 'sno-deferred.service',
  enabled: true,
  contents: readFileSync(new URL('./installed/sno-deferred.service', import.meta.url), 'utf8'),
};
