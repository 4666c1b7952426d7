import { z } from 'zod';
import { readGoYaml } from '../../../lib/base/go-yaml/read.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { type Pod, type Resource, resources } from '../../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../../lib/clients/kube/watch-objects.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { podsIn } from '../../steps/control-plane-pods.ts';
import type { UpdateContext } from './context.ts';

const containerSchema = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).optional(),
});
const specSchema = z.looseObject({
  spec: z.looseObject({ containers: z.array(containerSchema) }),
});
const withSpecSchema = resources.pods.schema.and(specSchema);
type WithSpec = Pod & z.infer<typeof specSchema>;
const podsWithSpec: Resource<WithSpec> = { ...resources.pods, schema: withSpecSchema };

/**
 * Waits until the kubelet shows the present manifests as its static pods. Payloads may have the same image under two
 * names, so the images that run do not say which manifest they come from; arguments differ too.
 *
 * @throws Failure (deadline) with what it shows instead
 */
export async function presentManifestsRun(
  client: KubeClient,
  { paths, hostname }: Pick<UpdateContext, 'paths' | 'hostname'>,
  progress: Progress,
): Promise<void> {
  const nodeName = hostname();
  const wanted = new Map<string, PodProgram>();
  for (const { component, manifest } of await podsIn(paths.staticPods)) {
    wanted.set(`${component}-${nodeName}`, programOf(specSchema.parse(readGoYaml(manifest))));
  }
  const what = 'the kubelet to run the manifests of the payload';
  const others = (pods: Iterable<WithSpec>) => otherPrograms([...pods], wanted);
  await progress.wait(what, () =>
    watchUntil(
      client,
      podsWithSpec,
      { namespace: 'kube-system', fieldSelector: `spec.nodeName=${nodeName}` },
      (pods) => (others(pods.values()).length === 0 ? true : undefined),
      {
        what,
        describe: (pods) => others(pods.values()).join(', '),
        report: (text) => progress.waitingFor(text),
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
      },
    ),
  );
}

/** What a static pod runs. */
export interface PodProgram {
  readonly image: string;
  readonly command: readonly string[];
}

/** Of the wanted pods, those that do not exist or run something else, for people. `wanted`: by name of the pod. */
export const otherPrograms = (
  pods: readonly Pick<WithSpec, 'metadata' | 'spec'>[],
  wanted: ReadonlyMap<string, PodProgram>,
): string[] =>
  [...wanted].flatMap(([name, { image, command }]) => {
    const pod = pods.find(({ metadata }) => metadata.name === name);
    if (pod === undefined) return [`no pod ${name}`];
    const found = programOf(pod);
    if (found.image !== image) return [`${name} runs ${found.image}`];
    const differs = command.find((argument) => !found.command.includes(argument));
    const more = found.command.find((argument) => !command.includes(argument));
    if (differs === undefined && more === undefined) return [];
    return [`${name} runs ${differs === undefined ? `with ${more}` : `without ${differs}`}`];
  });

const programOf = ({ spec }: z.infer<typeof specSchema>): PodProgram => ({
  image: spec.containers[0]?.image ?? '',
  command: spec.containers[0]?.command ?? [],
});
