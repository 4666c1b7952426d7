import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ChangeStep } from '../../../lib/change/or-back.ts';
import type { Prepared } from '../../../lib/change/update/prepared.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import { replaceFolder } from '../../../lib/engine/trial/points.ts';
import { sha256OfAnyFile } from '../../../lib/host/digests.ts';
import {
  exists,
  readTextIfPresent,
  syncDirectory,
  writeFileAtomic,
} from '../../../lib/host/files.ts';
import { placeLinks } from '../../../lib/host/links.ts';
import { relabel } from '../../../lib/host/selinux-labels.ts';
import { enableUnits, reloadUnits, startUnit, stopUnit } from '../../../lib/host/systemd.ts';
import type { UpdatedHost } from './context.ts';
import { movedPayload, nextExecutable, nextPayload } from './places.ts';
import { loadPrepared } from './prepare.ts';
import { isInUse } from './stage.ts';

const KUBELET = 'kubelet.service';

/**
 * Replaces the executable, the payload and the files while the kubelet is stopped, so that it never sees a
 * mixture. Containers keep running. The units that verify and import the new payload start with the kubelet.
 */
export const switchOver: ChangeStep<UpdatedHost> = {
  name: 'switch',
  leaves: 'the new executable, payload and files in their places, and a started kubelet',
  touches: ['disk', 'systemd'],
  neededUntil: 'confirm',
  holds: (context, { signal }) => isSwitched(context, signal),
  async run(context, progress) {
    const { paths } = context;
    const { signal } = progress;
    const prepared = await loadPrepared(context);
    // Each is required by the one before it.
    for (const unit of [KUBELET, ...context.kubeletRequires.toReversed()])
      await progress.wait(`${unit} to stop`, () => stopUnit(unit, signal));
    await replaceFolder(paths, movedPayload, nextPayload(paths));
    if (await exists(nextExecutable(paths))) {
      await rename(nextExecutable(paths), paths.executable);
      await syncDirectory(dirname(paths.executable));
    }
    for (const { path, contents, mode } of prepared.files) {
      await writeFileAtomic(paths.at(path), contents, mode);
    }
    await relabel(
      paths,
      prepared.files.map(({ path }) => path),
      signal,
    );
    await placeLinks(paths, prepared.links);
    if (prepared.enable.length > 0) await enableUnits(prepared.enable, signal);
    await reloadUnits(signal);
    await startUnit(KUBELET, signal);
    return done(`${prepared.files.length} files`);
  },
};

async function isSwitched(context: UpdatedHost, signal: AbortSignal): Promise<boolean> {
  const { paths, request } = context;
  const { executable } = request.manifest;
  return (
    (await sha256OfAnyFile(paths.executable, signal)) === executable.sha256 &&
    (await isInUse(context, signal)) &&
    (await arePlaced(context, await loadPrepared(context)))
  );
}

async function arePlaced({ paths }: UpdatedHost, { files, links }: Prepared): Promise<boolean> {
  for (const { path, contents } of files) {
    if ((await readTextIfPresent(paths.at(path))) !== contents) return false;
  }
  for (const { path } of links) if (!(await exists(paths.at(path)))) return false;
  return true;
}
