import { readFile } from 'node:fs/promises';
import { ETCD_MANIFEST_FILE } from '../../../../lib/cluster/installation/snapshot-record.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { runNamedUnit } from '../../../../lib/host/named-unit.ts';
import {
  etcdMemberOf,
  type RenderedEtcdMember,
} from '../../../../lib/render/openshift/etcd-member.ts';
import { obtain } from '../../../../lib/render/openshift/images.ts';
import {
  hostPodman,
  installedEnvironment,
  type Podman,
} from '../../../../lib/render/openshift/podman.ts';
import type { HostContext } from '../../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../../steps/request-deadline.ts';
import { restoreFile } from '../../restore/record.ts';

/** podman shares its images with CRI-O: etcd's pod starts without pulling it again. */
export const installedPodman: Podman = hostPodman(runNamedUnit, installedEnvironment);

/** The member that etcd's static pod will start. */
export async function memberToRestore(context: HostContext): Promise<RenderedEtcdMember> {
  return etcdMemberOf(await readFile(restoreFile(context, ETCD_MANIFEST_FILE), 'utf8'));
}

/** Pulls etcd's image: the program that restores a database is only in there. */
export const etcdImage: StepBody<HostContext> = {
  name: 'etcd-image',
  leaves: "etcd's image in podman's storage",
  touches: ['disk', 'runtime', 'network'],
  retries: true,
  neededUntil: 'restore-database',
  input: async (context) => (await memberToRestore(context)).image,
  async holds(context, { signal }) {
    const { image } = await memberToRestore(context);
    const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
    return (await installedPodman.inspect(image, 'etcd', limits)) !== undefined;
  },
  async run(context, progress) {
    const { image } = await memberToRestore(context);
    await progress.wait(`the image ${image}`, () =>
      obtain(
        installedPodman,
        { name: 'etcd', reference: image },
        {
          signal: progress.signal,
          deadlineMs: progress.remainingMs(),
          report: (text) => progress.waitingFor(text),
        },
      ),
    );
    return done(image);
  },
};
