import { z } from 'zod';
import { readGoYaml } from '../../../lib/base/go-yaml/read.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { type Pod, type Resource, resources } from '../../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../../lib/clients/kube/watch-objects.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { podsIn } from '../../steps/control-plane-pods.ts';
import type { UpdateContext } from './context.ts';

const specSchema = z.looseObject({
  spec: z.looseObject({ containers: z.array(z.looseObject({ image: z.string() })) }),
});
const withSpecSchema = resources.pods.schema.and(specSchema);
type WithSpec = Pod & z.infer<typeof specSchema>;
const podsWithSpec: Resource<WithSpec> = { ...resources.pods, schema: withSpecSchema };

/**
 * Waits until the kubelet shows the present manifests as its static pods. Payloads may have the same image under two
 * names, so the images that run do not say which manifest they come from.
 *
 * @throws Failure (deadline) with what it shows instead
 */
export async function presentManifestsRun(
  client: KubeClient,
  { paths, hostname }: Pick<UpdateContext, 'paths' | 'hostname'>,
  progress: Progress,
): Promise<void> {
  const nodeName = hostname();
  const wanted = new Map<string, string>();
  for (const { component, manifest } of await podsIn(paths.staticPods)) {
    wanted.set(`${component}-${nodeName}`, imageOf(specSchema.parse(readGoYaml(manifest))));
  }
  const what = 'the kubelet to run the manifests of the payload';
  const others = (pods: Iterable<WithSpec>) => otherImages([...pods], wanted);
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

/** Of the wanted pods, those that do not exist or are another image's, for people. `wanted`: images by name of the pod. */
export const otherImages = (
  pods: readonly Pick<WithSpec, 'metadata' | 'spec'>[],
  wanted: ReadonlyMap<string, string>,
): string[] =>
  [...wanted].flatMap(([name, image]) => {
    const pod = pods.find(({ metadata }) => metadata.name === name);
    if (pod === undefined) return [`no pod ${name}`];
    const found = imageOf(pod);
    return found === image ? [] : [`${name} runs ${found}`];
  });

const imageOf = ({ spec }: z.infer<typeof specSchema>): string => spec.containers[0]?.image ?? '';
