import { readFile } from 'node:fs/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { type Node, resources } from '../../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../../lib/clients/kube/watch-objects.ts';
import { trustDigest, trusts, WORKER_SELECTOR } from '../../../lib/cluster/workers/api-trust.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { controllerManagerTrust } from '../../../lib/render/kubernetes/kube-controller-manager.ts';
import type { RotateContext } from './context.ts';

const WHAT = 'every worker to trust the old and the new CA of the API server';

/**
 * Waits until every worker has confirmed that its kubelet trusts both CAs of the API server: the controller-manager publishes
 * them, and sno-worker-trust takes them over. A worker whose Node is deleted does not count. At the deadline the old one is
 * still in use, and the rotation is continued when the agent is started.
 */
export const workers: StepBody<RotateContext> = {
  name: 'workers',
  leaves: 'every worker trusts the old and the new CA of the API server',
  touches: ['disk', 'api'],
  neededUntil: 'use-new',
  input: ({ request }) => request.id,
  holds: async () => true,
  async run(context, progress) {
    const { paths, request, settings } = context;
    const { what } = request;
    if (what.kind !== 'authorities' || !what.names.includes('serving')) return done('not needed');
    const both = trustDigest(await readFile(paths.at(controllerManagerTrust.api), 'utf8'));
    const workersIn = (all: ReadonlyMap<string, Node>) =>
      [...all.values()].filter(({ metadata }) => metadata.name !== context.hostname());
    const missing = (all: ReadonlyMap<string, Node>) =>
      workersIn(all).filter((node) => !trusts(node, both));
    const confirmed = await context.withAdministrator(progress, (client) =>
      progress.wait(WHAT, (wait) =>
        watchUntil(
          client,
          resources.nodes,
          { labelSelector: WORKER_SELECTOR },
          (all) => (missing(all).length === 0 ? workersIn(all).map(nameOf) : undefined),
          {
            ...wait,
            deadlineMs: settings.rotateWorkersMs,
            what: WHAT,
            describe: (all) => `not confirmed by ${missing(all).map(nameOf).join(', ')}`,
          },
        ).catch(withFix),
      ),
    );
    return done(confirmed.length === 0 ? 'no workers' : `confirmed by ${confirmed.join(', ')}`);
  },
};

const nameOf = ({ metadata }: Node): string => metadata.name;

function withFix(error: unknown): never {
  if (!(error instanceof Failure) || error.kind !== 'deadline') throw error;
  const fix =
    'Both are trusted, and the old one is still in use. See "journalctl -u sno-worker-trust" on these workers, or delete the Node of one that is gone. Then run "systemctl start sno-rotate".';
  throw new Failure(error.kind, error.what, { ...error.details, fix });
}
