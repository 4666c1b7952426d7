/** Sticks as people have them: FAT in a partition, without a label. */
import { mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../lib/host/command.ts';
import { ensureComponent } from '../../components/component.ts';
import { stickFormatPaths, stickFormats } from '../../components/stick-formats.ts';
import { quickly } from '../../host/command.ts';
import { PARTITION_OFFSET, partitionedStick } from '../../relocate/volume.ts';

const FORMAT_MS = 60_000;
const STICK_BYTES = 40 << 20;
/** Behind the boot sector: the table of what belongs to which file, and its copy. */
const TABLES_AT = PARTITION_OFFSET + 512;
const TABLES_BYTES = 64 << 10;

/** Of somebody who has copied the files of the volume to a stick from a drawer. */
export async function copied(image: string, files: string, signal: AbortSignal): Promise<void> {
  const names = await readdir(files);
  const sources = names.map((name) => join(files, name));
  await partitionedStick(image, sources, [], signal);
}

/** Of somebody who has copied the folder instead of what is in it. */
export const tooDeep = (image: string, files: string, signal: AbortSignal): Promise<void> =>
  partitionedStick(image, [files], [], signal);

/** Of something else. `work`: an empty folder that is created. */
export async function withPhotos(image: string, work: string, signal: AbortSignal): Promise<void> {
  await mkdir(work);
  await writeFile(join(work, 'holiday.jpg'), 'a photo');
  await partitionedStick(image, [join(work, 'holiday.jpg')], [], signal);
}

/** The same as `copied`, which a computer was not asked to eject. */
export async function damaged(image: string, files: string, signal: AbortSignal): Promise<void> {
  await copied(image, files, signal);
  await using stick = await open(image, 'r+');
  await stick.write(Buffer.alloc(TABLES_BYTES, 0xaa), 0, TABLES_BYTES, TABLES_AT);
}

/** As large sticks are sold, and as Windows formats them. */
export async function formattedAs(
  format: 'exfat' | 'ntfs',
  image: string,
  label: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const folder = await ensureComponent(stickFormats, { signal, report: () => undefined });
  const paths = stickFormatPaths(folder);
  await quickly('truncate', ['--size', `${STICK_BYTES}`, image], signal);
  const args = format === 'ntfs' ? ['-q', '-F'] : [];
  await run(paths[format], [...args, ...label, image], {
    signal,
    deadlineMs: FORMAT_MS,
    env: { LD_LIBRARY_PATH: paths.libraries },
  });
}
