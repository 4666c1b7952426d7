import { VOLUME_LABELS } from '../site-volume/volume.ts';

/** Behind 60-persistent-storage.rules, which reads the labels. */
export const mediaRulePath = '/etc/udev/rules.d/70-sno-site-volume.rules';

/** A label in any case, as a pattern of udev(7). */
const inAnyCase = (label: string): string =>
  label.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

const START = 'RUN+="/usr/bin/systemctl start --no-block reconfigure.service"';

/** ID_BUS is `ata` for some disks of USB, which have a SATA bridge. */
const FILES_ON_USB = 'SUBSYSTEMS=="usb", ENV{ID_FS_USAGE}=="filesystem"';

/**
 * Has the host looked at when a site volume is inserted: a medium with its label, or one on USB, to which a person may have
 * copied the files. RUN and not SYSTEMD_WANTS, which would have no effect on a CD that is replaced by another one of the
 * same label. A change is of interest if the medium is another one: what is written to one is a change, too.
 */
export const mediaRule = `# A site volume was inserted. Written by sno-agents.
ACTION=="remove", GOTO="sno_site_volume_end"
SUBSYSTEM!="block", GOTO="sno_site_volume_end"
${VOLUME_LABELS.map((label) => `ENV{ID_FS_LABEL}=="${inAnyCase(label)}", ${START}\n`).join('')}ACTION=="add", ${FILES_ON_USB}, ${START}
ENV{DISK_MEDIA_CHANGE}=="1", ${FILES_ON_USB}, ${START}
LABEL="sno_site_volume_end"
`;
