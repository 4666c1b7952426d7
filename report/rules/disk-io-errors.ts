import type { Rule } from '../bundle-view.ts';
import { hostFiles } from '../reading/hosts.ts';
import { isOfBefore, linesLike } from '../reading/journal.ts';
import { plural } from '../reading/words.ts';

/** Messages of the block layer, libata, NVMe and the file systems. */
const ERRORS =
  /I\/O error, dev (\w+)|Buffer I\/O error on dev(?:ice)? ([\w-]+)|critical (?:medium|target) error, dev (\w+)|EXT4-fs error \(device ([\w-]+)\)|XFS \(([\w-]+)\): (?:Metadata corruption|Corruption|metadata I\/O error|log I\/O error)|BTRFS (?:error|critical) \(device ([\w-]+)\)|(nvme\d+)n?\d*: I\/O .*timeout|Remounting filesystem read-only/;
/** What a stick that is taken out leaves, and nothing else, or a controller that answered again. */
const OF_BLOCKS = /I\/O error(?:,| on) dev|nvme\d+n?\d*: I\/O .*timeout/;
const SHOWN = 6;
/** Drives that report errors if they have no medium. */
const NO_MEDIUM = /^(sr|fd)\d+$/;

export const diskIoErrors: Rule = {
  name: 'disk-io-errors',
  looksFor:
    "errors of disks and file systems in the kernel's journal, except for optical and floppy drives",
  todo: 'Back up the data and replace the disk or its cable. "journalctl -k -p err" shows each error, "udevadm info --name=/dev/DISK" which disk it is; so do, where the image of the system has them, "smartctl -a /dev/DISK" and "nvme smart-log /dev/DISK". A file system that the kernel remounted read-only needs fsck before the next write.',
  find(view) {
    return hostFiles(view, 'journals/kernel.log').flatMap((path) => {
      const errors = linesLike(view, path, ERRORS).flatMap((line) => {
        const device =
          ERRORS.exec(line.text)
            ?.slice(1)
            .find((name) => name !== undefined) ?? '';
        return NO_MEDIUM.test(device) ? [] : [{ line, device }];
      });
      const [first] = errors;
      if (first === undefined) return [];
      // A file system that has failed stays so, and a surface that cannot be read does not heal.
      const isOver = errors.every(
        ({ line }) => OF_BLOCKS.test(line.text) && isOfBefore(line, view),
      );
      const devices = [
        ...new Set(errors.map(({ device }) => device).filter((name) => name !== '')),
      ];
      return [
        {
          severity: isOver ? 'warning' : 'failing',
          title: `The kernel reports ${plural(errors.length, 'error')} of ${devices.join(', ') || 'a file system'}`,
          sinceMs: first.line.atMs,
          evidence: errors.slice(0, SHOWN).map(({ line }) => line.evidence),
          todo: this.todo.replaceAll('DISK', devices[0] ?? 'DISK'),
        },
      ];
    });
  },
};
