import { join } from 'node:path';
import type { Test } from 'tap';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { openShiftRenderer } from '../../../../lib/render/openshift/index.ts';
import { type FakePodman, installerFiles, writeFiles } from './fake-podman.ts';
import { referenceOf } from './release.ts';

export const releaseImage = referenceOf('release');
const openshift = {
  releaseImage,
  version: '4.21',
  clusterId: '0b0cdb0a-0000-4000-8000-000000000000',
  infrastructureName: 'sno-abcde',
  platform: 'none',
};

/** A live host in a folder, whose control plane is rendered with that podman. */
export function liveHostOf(t: Test, podman: FakePodman, host = { rootIsOverlay: false }) {
  const paths = hostPaths(t.testdir());
  writeFiles(paths.assets, installerFiles());
  const reports: string[] = [];
  const render = () =>
    openShiftRenderer(podman).render(
      { release: openshift, paths, host },
      {
        signal: new AbortController().signal,
        report: (line) => reports.push(line),
        work: join(paths.assets, 'render'),
      },
    );
  return { paths, render, reports };
}
