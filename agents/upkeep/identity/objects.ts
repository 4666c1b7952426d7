import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { applyChange, listObjects } from '../../../lib/change/identity/apply.ts';
import {
  changesOf,
  type IdentityChange,
  isTiedTo,
  lostPods,
} from '../../../lib/change/identity/changes.ts';
import {
  type ListedObjects,
  type VolumeObject,
  volumeSchema,
} from '../../../lib/change/identity/objects.ts';
import { replacements } from '../../../lib/change/identity/replacements.ts';
import { identityStateFolder } from '../../../lib/change/identity/request.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { stateFile } from '../../../lib/host/state-file.ts';
import { controllerManagerTrust } from '../../../lib/render/kubernetes/kube-controller-manager.ts';
import { manifests } from '../../../lib/render/kubernetes/manifests.ts';
import { publishTrust } from '../../steps/certificates/published-trust.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { type IdentityContext, inputOf } from './context.ts';

/**
 * Changes the objects of the cluster that name the Node, while nothing else runs than etcd and the API
 * server: the Node, its pods and Leases, the volumes that are tied to it, the rights of the approver.
 */
export const identityObjects: StepBody<IdentityContext> = {
  name: 'objects',
  leaves: 'the Node under its new name, with its volumes; nothing of the old one',
  touches: ['disk', 'api'],
  retries: true,
  neededUntil: 'start',
  input: ({ request }) => request.id,
  holds: (context, progress) =>
    context.withAdministrator(progress, async (client) => {
      const found = await listObjects(client, limitsOf(progress));
      return (await remaining(context, found)).length === 0;
    }),
  run: (context, progress) =>
    context.withAdministrator(progress, async (client) => {
      const found = await listObjects(client, limitsOf(progress));
      await keepVolumes(context, found.volumes);
      for (const { metadata } of lostPods(context.request, found.pods)) {
        progress.warn(
          `${metadata.namespace}/${metadata.name} has no controller, and is deleted: create it again`,
        );
      }
      const changes = await remaining(context, found);
      for (const change of changes) await applyChange(client, change, limitsOf(progress));
      await replaceRendered(context, client, progress);
      // The authorities of the lost host are in the database.
      if (context.request.backup !== undefined) await publishTrust(context, progress);
      return done(summary(changes));
    }),
};

const limitsOf = ({ signal }: Progress) => ({ signal, deadlineMs: REQUEST_DEADLINE_MS });

async function remaining(
  context: IdentityContext,
  found: ListedObjects,
): Promise<IdentityChange[]> {
  const { paths, request } = context;
  const rootCa = await readFile(paths.at(controllerManagerTrust.api), 'utf8');
  const saved = await savedVolumes(context);
  return changesOf({ from: request.from, to: request.to, rootCa, saved }, found);
}

/** Objects of the installation whose contents depend on the identity. */
async function replaceRendered(
  context: IdentityContext,
  client: KubeClient,
  progress: Progress,
): Promise<void> {
  const { from, to } = context.request;
  const [old, next] = [await inputOf(context, from), await inputOf(context, to)];
  for (const change of replacements(manifests(old), manifests(next))) {
    await applyChange(client, change, limitsOf(progress));
  }
}

const savedSchema = z.object({ id: z.string(), volumes: z.array(volumeSchema) });
const savedFile = (paths: HostPaths) =>
  stateFile(join(identityStateFolder(paths), 'volumes.json'), savedSchema, {
    damaged: {
      expected: 'the volumes of this host that are being given to its new name',
      fix: 'Restore the file from a copy of this disk. If the host had no local volumes, delete it.',
    },
  });

/** Before they are deleted: a power cut must not lose one. */
async function keepVolumes(
  context: IdentityContext,
  present: readonly VolumeObject[],
): Promise<void> {
  const { paths, request } = context;
  if (request.from.hostname === request.to.hostname) return;
  const saved = await savedVolumes(context);
  const isSaved = ({ metadata }: VolumeObject) =>
    saved.some((volume) => volume.metadata.name === metadata.name);
  const tied = present.filter((volume) => isTiedTo(request.from.hostname, volume));
  const volumes = [...saved, ...tied.filter((volume) => !isSaved(volume))];
  await savedFile(paths).write({ id: request.id, volumes });
}

async function savedVolumes({ paths, request }: IdentityContext): Promise<VolumeObject[]> {
  const saved = await savedFile(paths).read();
  return saved?.id === request.id ? saved.volumes : [];
}

function summary(changes: readonly IdentityChange[]): string {
  const counts = new Map<string, number>();
  for (const change of changes) {
    const what = `${change.do} ${change.resource.plural}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${what}: ${count}`).join(', ') || 'nothing to change';
}
