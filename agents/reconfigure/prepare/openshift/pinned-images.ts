import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { run } from '../../../../lib/host/command.ts';
import {
  exists,
  readTextIfPresent,
  removeFile,
  writeFileAtomic,
} from '../../../../lib/host/files.ts';
import type { PlainHost } from '../../../steps/host-context.ts';
import { unitImages } from '../../openshift/unit-images.ts';
import { RUNTIME } from '../../openshift/units.ts';

type Context = Pick<PlainHost, 'paths'>;

/**
 * Of the later of two files CRI-O takes the whole list. That of a PinnedImageSet comes later on purpose: it is the cluster's, and
 * may name these as well.
 */
export const pinnedPath = '/etc/crio/crio.conf.d/40-sno-pinned-images';
const OF_DAEMON = '/etc/crio/crio.conf.d/50-pinned-images';

const RELOAD_MS = 60_000;

/** Keeps the kubelet from deleting images that only units use, when the disk fills up: no pod would bring them back. */
export const pinnedImages: StepBody<Context> = {
  name: 'pinned-images',
  leaves: 'images of units that the kubelet does not delete',
  touches: ['disk', 'runtime'],
  retries: true,
  input: ({ paths }) => unitImages(paths),
  holds: async ({ paths }) =>
    (await readTextIfPresent(paths.at(pinnedPath))) === (await textOf({ paths })),
  async run({ paths }, progress) {
    const images = await unitImages(paths);
    const text = await textOf({ paths });
    if (text === undefined) {
      await removeFile(paths.at(pinnedPath));
    } else {
      await writeFileAtomic(paths.at(pinnedPath), text, 0o644);
    }
    await reload(progress.signal);
    if (await exists(paths.at(OF_DAEMON))) {
      progress.warn(
        `A PinnedImageSet has a list of its own, which counts instead: add ${images.map(({ image }) => image).join(', ')} to it.`,
      );
    }
    return done(`${images.length} images`);
  },
};

export const withoutPinnedImages: StepBody<Context> = {
  name: 'pinned-images',
  leaves: 'no images that were pinned for the way to a site',
  touches: ['disk', 'runtime'],
  retries: true,
  input: () => 'removed',
  holds: async ({ paths }) => !(await exists(paths.at(pinnedPath))),
  async run({ paths }, { signal }) {
    await removeFile(paths.at(pinnedPath));
    // Also if an earlier attempt has removed it: it may have been killed before this line.
    await reload(signal);
    return done();
  },
};

/** Undefined: nothing has to be pinned. */
async function textOf({ paths }: Context): Promise<string | undefined> {
  const images = await unitImages(paths);
  if (images.length === 0) return undefined;
  const list = images.map(({ image }) => `  ${JSON.stringify(image)},\n`).join('');
  return `# Images of units, which no pod names. Written by sno-agents.\n[crio.image]\npinned_images = [\n${list}]\n`;
}

/** One that does not run reads it when it starts. */
const reload = (signal: AbortSignal) =>
  run('systemctl', ['try-reload-or-restart', RUNTIME], { signal, deadlineMs: RELOAD_MS });
