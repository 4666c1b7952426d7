import { z } from 'zod';
import { readGoYaml } from '../../base/go-yaml/read.ts';
import { writeGoYaml } from '../../base/go-yaml/write.ts';
import { fingerprint } from '../../engine/steps/fingerprint.ts';
import type { StaticPod } from '../renderer.ts';
import { inventory } from './inventory.ts';

/**
 * The annotation of a static pod with the fingerprint of the files that its program reads only when
 * it starts. With new contents the manifest is another one, so that the kubelet starts the pod anew;
 * with the same contents nothing restarts. The kubelet gives it to the pod's sandbox in the container
 * runtime, where it shows which of them the running pod has read.
 */
export const READ_ONCE_ANNOTATION = 'sno-agents/read-once';

const manifestSchema = z.looseObject({
  metadata: z.looseObject({ annotations: z.record(z.string(), z.string()).optional() }),
});

/** The files that a component reads only when it starts. */
export function readOncePaths(component: string): string[] {
  return inventory
    .filter(({ takeUp, usedBy }) => takeUp === 'pod-restart' && usedBy.includes(component))
    .map(({ path }) => path);
}

/**
 * The manifest of a component with the annotation for these files; the same text if it has it.
 *
 * @param contents of the files of `readOncePaths`, by path.
 */
export function withReadOnce(
  { component, manifest }: Pick<StaticPod, 'component' | 'manifest'>,
  contents: ReadonlyMap<string, string>,
): string {
  const value = fingerprint(readOncePaths(component).map((path) => [path, contents.get(path)]));
  if (readOnceOf(manifest) === value) return manifest;
  return annotated(manifest, READ_ONCE_ANNOTATION, value);
}

/** The same pod under a uid of its own for each `attempt`: the kubelet stops another one for it. */
export const replacing = (manifest: string, attempt: number): string =>
  annotated(manifest, 'sno-agents/replaces-pod', String(attempt));

function annotated(manifest: string, name: string, value: string): string {
  const pod = manifestSchema.parse(readGoYaml(manifest));
  const { annotations, ...metadata } = pod.metadata;
  return writeGoYaml({
    ...pod,
    metadata: { ...metadata, annotations: { ...annotations, [name]: value } },
  });
}

/** The annotation of a manifest; undefined in those of earlier releases. */
export function readOnceOf(manifest: string): string | undefined {
  return manifestSchema.parse(readGoYaml(manifest)).metadata.annotations?.[READ_ONCE_ANNOTATION];
}
