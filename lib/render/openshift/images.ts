import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../base/errors/failure.ts';
import type { Limits, Wait } from '../../base/wait/limits.ts';
import type { OpenShiftRelease } from '../../config/cluster/cluster.ts';
import { hostArchitecture } from '../../host/architecture.ts';
import { imageOf } from './command.ts';
import type { Podman, StoredImage } from './podman.ts';
import { type PulledRelease, parseRelease, RELEASE_FILES } from './release.ts';
import { runTasks } from './schedule.ts';
import { stagesIn } from './stage.ts';
import { STAGES } from './stages.ts';

/** Which release is wanted, and whether one that is unknown was accepted. */
export type NamedRelease = Pick<OpenShiftRelease, 'releaseImage' | 'unknownReleaseAccepted'>;

/** How many images are pulled at once; each of them in several layers. */
const PARALLEL_PULLS = 4;

/** The pauses after failed attempts; the step's own retries follow. */
const PAUSES_MS = [1000, 4000, 15_000] as const;

/** Of a call that needs no network. */
const CALL_MS = 120_000;

/**
 * Pulls the release image and the images that render, each that podman does not have. Digests are
 * compared and the architecture is checked before anything is run.
 */
export async function pullRelease(
  podman: Podman,
  named: NamedRelease,
  wait: Wait,
): Promise<{ readonly release: PulledRelease; readonly images: number }> {
  const { releaseImage: reference } = named;
  wait.report(`the release image ${reference}`);
  await obtain(podman, { name: 'release', reference }, wait);
  const release = await readRelease(podman, named, wait);
  const names = renderImages(release);
  await runTasks({
    tasks: names.map((name) => ({ name, after: new Set<string>() })),
    limit: PARALLEL_PULLS,
    signal: wait.signal,
    run: ({ name }, signal) =>
      obtain(podman, { name, reference: imageOf(release, name) }, { ...wait, signal }),
    running: (running, ended) =>
      wait.report(`images (${ended} of ${names.length}): ${running.join(', ')}`),
  });
  return { release, images: names.length + 1 };
}

/** The files of a release image that podman has. @throws Failure (retry) if it cannot be run */
export async function readRelease(
  podman: Podman,
  { releaseImage: reference, unknownReleaseAccepted }: NamedRelease,
  { signal }: Pick<Wait, 'signal'>,
): Promise<PulledRelease> {
  const limits = { signal, deadlineMs: CALL_MS };
  const read = (what: string, file: string) =>
    podman.run(
      {
        name: `sno-release-${what}`,
        image: reference,
        entrypoint: 'cat',
        command: [file],
        network: 'none',
        volumes: [],
      },
      limits,
    );
  const [digested, imageReferences, metadata] = await Promise.all([
    byDigest(podman, reference, limits),
    read('images', RELEASE_FILES.imageReferences),
    read('metadata', RELEASE_FILES.metadata),
  ]);
  return parseRelease(digested, { imageReferences, metadata }, unknownReleaseAccepted === true);
}

/** Whether podman has the release image and all images that its stages run. */
export async function hasRelease(
  podman: Podman,
  named: NamedRelease,
  signal: AbortSignal,
): Promise<boolean> {
  const limits = { signal, deadlineMs: CALL_MS };
  if ((await podman.inspect(named.releaseImage, 'release', limits)) === undefined) return false;
  const release = await readRelease(podman, named, { signal });
  const found = renderImages(release).map((name) =>
    podman.inspect(imageOf(release, name), name, limits),
  );
  return !(await Promise.all(found)).includes(undefined);
}

/** Names of the images that the stages of that release run, without the release image. */
function renderImages({ stages }: PulledRelease): string[] {
  const images = stagesIn(stages, STAGES).map(({ image }) => image);
  return [...new Set(images)].filter((image) => image !== 'release');
}

/**
 * Pulls an image unless podman has it, with a few attempts; `name` names the unit that does it.
 * @throws Failure (fatal) if it has another digest or is for another architecture
 */
export async function obtain(
  podman: Podman,
  { name, reference }: { readonly name: string; readonly reference: string },
  wait: Wait,
): Promise<void> {
  const limits = { signal: wait.signal, deadlineMs: CALL_MS };
  const present = await podman.inspect(reference, name, limits);
  if (present !== undefined) return expectImage(reference, present);
  await withRetry(() => podman.pull(reference, name, wait), wait.signal);
  const pulled = await podman.inspect(reference, name, limits);
  if (pulled !== undefined) return expectImage(reference, pulled);
  throw new Failure('retry', `podman does not have the image ${reference} after pulling it`);
}

async function withRetry(attempt: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (const pause of PAUSES_MS) {
    try {
      return await attempt();
    } catch {
      signal.throwIfAborted();
      await sleep(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
  return attempt();
}

function expectImage(reference: string, image: StoredImage): void {
  const expected = hostArchitecture();
  if (image.architecture !== expected) {
    throw new Failure('fatal', `the image ${reference} is for another architecture`, {
      code: 'image-mismatch',
      expected,
      found: image.architecture,
      fix: 'Use a release image for the architecture of this host.',
    });
  }
  const [, digest] = reference.split('@');
  if (digest === undefined || digestsOf(image).includes(digest)) return;
  throw new Failure('fatal', `podman has another image as ${reference}`, {
    code: 'image-mismatch',
    expected: digest,
    found: digestsOf(image).join(', '),
    fix: `Remove it with "podman rmi ${reference}".`,
  });
}

const digestsOf = ({ digest, repoDigests }: StoredImage): string[] => [
  digest,
  ...repoDigests.map((each) => each.split('@')[1] ?? ''),
];

/**
 * The reference by digest, which is also written into the cluster. Images that were loaded from an
 * archive have none; they keep their tag.
 */
async function byDigest(podman: Podman, reference: string, limits: Limits): Promise<string> {
  if (reference.includes('@')) return reference;
  const image = await podman.inspect(reference, 'release', limits);
  return image?.repoDigests.find((each) => each.endsWith(`@${image.digest}`)) ?? reference;
}
