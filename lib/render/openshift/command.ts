import { Failure } from '../../base/errors/failure.ts';
import type { PulledRelease } from './release.ts';
import type { VersionedStage } from './stage.ts';

/** The arguments of a stage with the values of the release; `isPresent` tells which files exist. */
export function commandOf(
  { name, command }: Pick<VersionedStage, 'name' | 'command'>,
  release: PulledRelease,
  isPresent: (path: string) => boolean,
): string[] {
  return command
    .filter(({ ifPresent }) => ifPresent === undefined || isPresent(ifPresent))
    .map(({ argument }) =>
      argument.replace(/\{([^}]*)\}/g, (_, key) => substitute(key, release, name)),
    );
}

function substitute(key: string, release: PulledRelease, stage: string): string {
  if (key === 'release') return release.reference;
  if (key === 'version') return release.version;
  if (key === 'kubernetes') return release.kubernetesVersion;
  const [kind, name] = key.split(':');
  if (kind === 'image' && name !== undefined) return imageOf(release, name);
  throw new Failure('bug', `the stage ${stage} has the unknown placeholder {${key}}`);
}

/** The reference of one of its images. @throws Failure (fatal) if the release has none of that name */
export function imageOf(release: PulledRelease, name: string): string {
  if (name === 'release') return release.reference;
  const reference = release.images.get(name);
  if (reference !== undefined) return reference;
  throw new Failure('fatal', `the release image ${release.reference} has no image ${name}`, {
    expected: `a release of OpenShift with the image ${name}`,
    found: `version ${release.version}, ${release.images.size} images`,
  });
}
