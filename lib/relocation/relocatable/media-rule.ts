import { VOLUME_LABELS } from '../site-volume/volume.ts';

/** Behind 60-persistent-storage.rules, which reads the labels. */
export const mediaRulePath = '/etc/udev/rules.d/70-sno-site-volume.rules';

/** A label in any case, as a pattern of udev(7). */
const inAnyCase = (label: string): string =>
  label.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

const START = 'RUN+="/usr/bin/systemctl start --no-block reconfigure.service"';

/**
 * Has the host looked at when a site volume is inserted: a medium with its label, or any stick, since a person may have copied the
 * files to one of their own. RUN and not SYSTEMD_WANTS, which would have no effect on a CD that
 * is replaced by another one of the same label.
 */
export const mediaRule = `# A site volume was inserted. Written by sno-agents.
ACTION=="remove", GOTO="sno_site_volume_end"
SUBSYSTEM!="block", GOTO="sno_site_volume_end"
${VOLUME_LABELS.map((label) => `ENV{ID_FS_LABEL}=="${inAnyCase(label)}", ${START}\n`).join('')}ACTION=="add", ENV{ID_BUS}=="usb", ENV{ID_FS_USAGE}=="filesystem", ${START}
LABEL="sno_site_volume_end"
`;
