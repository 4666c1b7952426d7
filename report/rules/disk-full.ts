import { WRITTEN_FOLDERS } from '../../lib/host/written-folders.ts';
import type { BundleView, Found, Rule } from '../bundle-view.ts';
import { whereSaid } from '../reading/evidence.ts';
import { hostFiles, hostFilesIn } from '../reading/hosts.ts';
import { isRecent, lastLike, linesLike, ofLastDays } from '../reading/journal.ts';
import { at, listAt, numberAt, textAt, textsAt } from '../reading/values.ts';
import { bytes, percent } from '../reading/words.ts';

/** Read-only file systems, which are always full. */
const READ_ONLY = /^(iso9660|squashfs|erofs|udf|cramfs|romfs|efivarfs|composefs)$/;
/** Below this, the first writes have already failed. */
const FULL_SHARE = 0.01;
/** The kubelet's hard eviction defaults: nodefs.available<10%, nodefs.inodesFree<5% (pkg/kubelet/eviction/defaults_linux.go). */
const EVICTION_SHARE = 0.1;
const EVICTION_FILES_SHARE = 0.05;

export const diskFull: Rule = {
  name: 'disk-full',
  looksFor:
    'a file system with less than 1 % of its bytes or inodes free; one that the host writes to, below the kubelet\'s eviction thresholds (10 % and 5 %); and "no space left on device" in the last 5 minutes',
  todo: 'Find out what fills it ("du -xh --max-depth=3 DIR | sort -h", for inodes "du --inodes -x"), free space ("journalctl --vacuum-size=200M"; the kubelet deletes unused images itself), or enlarge the file system.',
  find(view) {
    const found = hostFiles(view, 'disks/df.json').flatMap((path) => {
      const list = listAt(view.json(path)).filter((raw) => !isReadOnly(raw));
      return list.flatMap((raw) => judge(view, path, raw, writesTo(raw, list)));
    });
    return found.some(({ severity }) => severity === 'failing')
      ? found
      : [...found, ...lastSaid(view)];
  },
};

const isReadOnly = (raw: unknown) =>
  READ_ONLY.test(textAt(raw, 'type') ?? '') || textAt(raw, 'source') === 'composefs';

/** What the host writes to a file system; bundles of earlier releases do not say it. */
function writesTo(raw: unknown, all: readonly unknown[]): string[] {
  if (at(raw, 'writes') !== undefined) return textsAt(raw, 'writes');
  const targets = all.map((each) => textAt(each, 'target') ?? '');
  return WRITTEN_FOLDERS.filter((folder) => mountOf(folder, targets) === textAt(raw, 'target'));
}

/** The longest mount point above the file. */
function mountOf(file: string, targets: readonly string[]): string | undefined {
  return targets
    .filter((target) => file === target || file.startsWith(target.replace(/\/?$/, '/')))
    .toSorted((a, b) => b.length - a.length)[0];
}

function judge(view: BundleView, path: string, raw: unknown, writes: readonly string[]): Found[] {
  const target = textAt(raw, 'target') ?? '';
  const bytesLeft = share(numberAt(raw, 'availableBytes'), numberAt(raw, 'sizeBytes'));
  const filesLeft = share(numberAt(raw, 'filesFree'), numberAt(raw, 'files'));
  const facts: string[] = [];
  const isFull = (bytesLeft ?? 1) < FULL_SHARE || (filesLeft ?? 1) < FULL_SHARE;
  const isWritten = writes.length > 0;
  if (bytesLeft !== undefined && bytesLeft < (isWritten ? EVICTION_SHARE : FULL_SHARE)) {
    facts.push(
      `${bytes(numberAt(raw, 'availableBytes') ?? 0)} of ${bytes(numberAt(raw, 'sizeBytes') ?? 0)} are free (${percent(bytesLeft)})`,
    );
  }
  if (filesLeft !== undefined && filesLeft < (isWritten ? EVICTION_FILES_SHARE : FULL_SHARE)) {
    facts.push(`${numberAt(raw, 'filesFree')} of ${numberAt(raw, 'files')} inodes are free`);
  }
  if (facts.length === 0) return [];
  const isFailing = isFull && isWritten;
  const said = isFailing ? firstSaid(view) : undefined;
  return [
    {
      severity: isFailing ? 'failing' : 'warning',
      title: `The file system of ${target}${elsewhere(target, writes)} is ${isFull ? 'full' : 'nearly full, and the kubelet evicts pods'}: ${facts.join(', ')}`,
      sinceMs: said?.atMs,
      evidence: [
        ...whereSaid(view, path, `"${target}"`),
        ...(said === undefined ? [] : [said.evidence]),
      ],
      todo: diskFull.todo.replace('DIR', isAbove(target, writes) ? target : '/var'),
    },
  ];
}

const isAbove = (target: string, writes: readonly string[]): boolean =>
  writes.length === 0 || writes.some((folder) => folder.startsWith(target));

/** Where the name of a mount point does not tell what is on it, as /sysroot. */
const elsewhere = (target: string, writes: readonly string[]): string =>
  isAbove(target, writes) ? '' : `, with ${writes[0]}`;

/** Undefined for file systems without such a count, e.g. inodes on btrfs and vfat. */
const share = (free: number | undefined, all: number | undefined): number | undefined =>
  free === undefined || all === undefined || all <= 0 ? undefined : free / all;

const NO_SPACE = /no space left on device/i;

/** The first failed write since it was quiet, from the journals and container logs. */
function firstSaid(view: BundleView) {
  const journals = hostFilesIn(view, 'journals/').filter((path) => !path.includes('/previous-'));
  const files = [...journals, ...hostFilesIn(view, 'containers/tails/')];
  const said = files.flatMap((path) => linesLike(view, path, NO_SPACE));
  return ofLastDays(said, view)[0];
}

/** The file system may have been full only briefly, or is not listed by df. */
function lastSaid(view: BundleView): Found[] {
  const last = hostFilesIn(view, 'journals/')
    .flatMap((path) => lastLike(view, path, NO_SPACE))
    .filter((line) => isRecent(line, view));
  if (last.length === 0) return [];
  return [
    {
      severity: 'warning',
      title: 'Writes have failed recently with "no space left on device"',
      evidence: last.map(({ evidence }) => evidence),
      todo: diskFull.todo.replace('DIR', '/var'),
    },
  ];
}
