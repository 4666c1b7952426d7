import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { failedRows, outcomeTable } from '../../lib/clients/kube/apply-table.ts';
import { loadManifests } from '../../lib/clients/kube/manifests.ts';
import { readDeferred } from '../../lib/cluster/deferred/manifests.ts';
import { tieToRole } from '../../lib/cluster/deferred/tie-to-role.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { sha256, writeFileAtomic } from '../../lib/host/files.ts';
import type { Rendered } from '../../lib/render/renderer.ts';
import { loadRendered } from '../../lib/render/store.ts';
import type { HostContext } from './host-context.ts';
import { REQUEST_DEADLINE_MS } from './request-deadline.ts';

/**
 * Creates every manifest, rendered and user-supplied, in dependency order. Existing objects are
 * left unchanged; a manifest that is rejected or cannot be decoded ends the installation, with a
 * table of all of them.
 */
export const applyAllManifests: StepBody<HostContext> = {
  name: 'manifests',
  leaves: 'every manifest as an API object',
  touches: ['disk', 'api'],
  retries: true,
  async input({ paths }) {
    const all = await loadRendered(paths);
    const rendered = all.manifests.map(({ contents }) => sha256(contents));
    const { manifests: users, faults } = await loadManifests(usersFolders(paths, all));
    return [rendered, users.map((manifest) => sha256(JSON.stringify(manifest))), faults.length];
  },
  // The control plane has not been stopped since (see neededUntil), and objects are not deleted by themselves.
  holds: async () => true,
  async run(context, progress) {
    const rendered = await loadRendered(context.paths);
    await placeRenderedManifests(context, rendered);
    const loaded = await loadManifests([
      renderedFolder(context.paths),
      ...usersFolders(context.paths, rendered),
    ]);
    const deferred = await readDeferred(context.paths);
    const isRendered = (file: string) => file.startsWith(`${renderedFolder(context.paths)}/`);
    const rows = await progress.wait('every manifest to be accepted', () =>
      context.withAdministrator(progress, async (client) => {
        const { signal } = progress;
        const applied = await applyManifests(client, loaded, {
          concurrency: context.settings.manifestsConcurrency,
          deadlineMs: progress.remainingMs(),
          signal,
          // A release's own manifests may have fields that its API server drops.
          fieldValidation: ({ file }) => (isRendered(file) ? 'Warn' : 'Strict'),
          report: (text) => progress.waitingFor(text),
        });
        if (deferred.length > 0 && failedRows(applied).length === 0) {
          await tieToRole(client, { signal, deadlineMs: REQUEST_DEADLINE_MS });
        }
        return applied;
      }),
    );
    for (const line of outcomeTable(rows)) progress.warn(line);
    const bad = failedRows(rows);
    if (bad.length > 0) {
      throw new Failure('fatal', `${bad.length} of ${rows.length} manifests could not be applied`, {
        code: 'manifests-rejected',
        found: bad.map(({ file, reason }) => `${file}: ${reason}`).join('; '),
        fix: 'Correct the manifests, create the Ignition config again and boot the medium with it.',
        parts: bad.map(
          ({ file, reason }) =>
            new Failure('fatal', `${file}: ${reason}`, {
              code: 'manifest-rejected',
              subject: file,
            }),
        ),
      });
    }
    const created = rows.filter(({ outcome }) => outcome === 'created').length;
    const later = deferred.length === 0 ? '' : `, ${deferred.length} deferred`;
    return done(`${created} created, ${rows.length - created} existed${later}`);
  },
};

/** None if the renderer has included them. */
const usersFolders = (paths: HostContext['paths'], { userManifests }: Rendered) =>
  userManifests === 'included' ? [] : [paths.assetsManifests, join(paths.assets, 'openshift')];

const renderedFolder = (paths: HostContext['paths']) => join(paths.assets, 'rendered-manifests');

async function placeRenderedManifests(
  { paths }: HostContext,
  { manifests: rendered }: Rendered,
): Promise<void> {
  await rm(renderedFolder(paths), { recursive: true, force: true });
  await mkdir(renderedFolder(paths), { recursive: true });
  for (const { name, contents } of rendered) {
    await writeFileAtomic(join(renderedFolder(paths), name), contents, 0o600);
  }
}
