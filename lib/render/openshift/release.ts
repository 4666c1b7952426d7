import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { schemaFaults } from '../../base/errors/schema-faults.ts';
import { readGoYaml } from '../../base/go-yaml/read.ts';
import { parseJson } from '../../base/json.ts';
import type { Minor } from '../../base/minor.ts';
import { stagesMinor } from './versions.ts';

/** What a release image says of itself. */
export interface PulledRelease {
  /** By digest where the registry gave one, so that all components name the same image. */
  readonly reference: string;
  /** Such as 4.21.0. */
  readonly version: string;
  /** Whose stages render it. */
  readonly stages: Minor;
  /** Such as 1.34.1. */
  readonly kubernetesVersion: string;
  /** References by the names of the images. */
  readonly images: ReadonlyMap<string, string>;
  /** The file from which the machine-config operator takes images. */
  readonly imageReferences: string;
}

/** Paths in a release image. */
export const RELEASE_FILES = {
  imageReferences: '/release-manifests/image-references',
  metadata: '/release-manifests/release-metadata',
} as const;

/** Tag annotation: `kubernetes=1.34.1`, separated by commas if there are several. */
const VERSIONS = 'io.openshift.build.versions';

const referencesSchema = z.object({
  kind: z.literal('ImageStream'),
  spec: z.object({
    tags: z.array(
      z.object({
        name: z.string(),
        from: z.object({ name: z.string() }),
        annotations: z.record(z.string(), z.string()).nullish(),
      }),
    ),
  }),
});

const metadataSchema = z.object({ version: z.string() });

/** @throws Failure (fatal) if a file of the release image cannot be used; (usage) for an unknown release that was not accepted */
export function parseRelease(
  reference: string,
  files: { readonly imageReferences: string; readonly metadata: string },
  isUnknownAccepted = false,
): PulledRelease {
  const { spec } = parsed(referencesSchema, () => readGoYaml(files.imageReferences), {
    reference,
    file: RELEASE_FILES.imageReferences,
  });
  const { version } = parsed(metadataSchema, () => parseJson(files.metadata), {
    reference,
    file: RELEASE_FILES.metadata,
  });
  const kubernetesVersion = spec.tags
    .flatMap(({ annotations }) => annotations?.[VERSIONS]?.split(',') ?? [])
    .map((each) => /^kubernetes=(\d+\.\d+\.\d+)/.exec(each.trim())?.[1])
    .find((each) => each !== undefined);
  if (kubernetesVersion === undefined) {
    throw new Failure(
      'fatal',
      `the release image ${reference} does not name its Kubernetes version`,
      {
        expected: `an image with the annotation ${VERSIONS}: kubernetes=...`,
      },
    );
  }
  return {
    reference,
    version,
    stages: stagesMinor(version, isUnknownAccepted),
    kubernetesVersion,
    images: new Map(spec.tags.map(({ name, from }) => [name, from.name])),
    imageReferences: files.imageReferences,
  };
}

function parsed<T>(
  schema: z.ZodType<T>,
  read: () => unknown,
  { reference, file }: { readonly reference: string; readonly file: string },
): T {
  const what = `${file} in the release image ${reference} cannot be used`;
  let content: unknown;
  try {
    content = read();
  } catch (cause) {
    throw new Failure('fatal', what, { cause });
  }
  const result = schema.safeParse(content);
  if (result.success) return result.data;
  throw new Failure('fatal', what, { found: schemaFaults(result.error) });
}
