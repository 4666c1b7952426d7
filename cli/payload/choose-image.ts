import { Failure } from '../../lib/base/errors/failure.ts';
import type { ArchivedImage } from '../../lib/payload/image/contents.ts';
import { imageNameOf, isReference } from '../../lib/payload/image/reference.ts';

export interface ChosenImage {
  image: ArchivedImage;
  reference: string;
}

/**
 * Chooses the image of an archive for the component `name`: the one that has
 * `reference`, or, without one, the only one whose repository ends in the
 * component's name. An archive of one image may be given another reference, such as
 * that of a mirror. @throws Failure (usage)
 */
export function chooseImage(
  images: readonly ArchivedImage[],
  name: string,
  reference: string | undefined,
): ChosenImage {
  const named = images.flatMap((image) =>
    image.references.filter(isReference).map((found) => ({ image, reference: found })),
  );
  const wanted = named.filter((candidate) =>
    reference === undefined
      ? imageNameOf(candidate.reference) === name
      : candidate.reference === reference,
  );
  const [first, second] = wanted;
  if (first !== undefined && second === undefined) return first;
  if (first === undefined) {
    const [only, another] = images;
    if (reference !== undefined && only !== undefined && another === undefined) {
      return { image: only, reference };
    }
    throw unclear(reference ?? `an image with a name that ends in /${name}:TAG`, images, name);
  }
  const platforms = new Set(wanted.map(({ image }) => image.architecture));
  if (platforms.size > 1) {
    throw new Failure('usage', `holds ${first.reference} for ${[...platforms].join(' and ')}`, {
      fix: 'Save the image for one architecture (skopeo copy --override-arch, podman pull --arch)',
    });
  }
  throw unclear(`one image with a name that ends in /${name}:TAG`, images, name);
}

function unclear(expected: string, images: readonly ArchivedImage[], name: string): Failure {
  const found = images.flatMap(({ references }) => references).join(', ');
  return new Failure('usage', 'is ambiguous: it has several images', {
    expected,
    found: found || 'images without a name',
    fix: `Say which with --reference ${name}=REGISTRY/REPOSITORY:TAG`,
  });
}
