import type { SiteDropin } from './site-files.ts';

/** Units that update the operating system and restart the host by themselves. */
const UPDATERS = ['zincati.service', 'rpm-ostreed-automatic.service'];

/**
 * No update before the installation is complete: its restart would interrupt it. Conditions are
 * evaluated when a unit starts, so zincati starts at the next boot, and a timer's unit at its next run.
 * Live systems of CoreOS are not updated. Where there is no such unit, the drop-in does nothing.
 */
export const updaterDropins: readonly SiteDropin[] = UPDATERS.map((unit) => ({
  unit,
  name: '50-sno-after-installation.conf',
  contents: '[Unit]\nConditionPathExists=/var/lib/sno-agents/record.json\n',
}));
