import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { importBackup } from '../../lib/change/backup/portable/import.ts';
import { identityOf } from '../../lib/change/identity/identity.ts';
import { lostHostPlaces, readLostHost } from '../../lib/change/identity/lost-host.ts';
import { identityChange, requestIdentity } from '../../lib/change/identity/request.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, removeOverwritten, syncDirectory } from '../../lib/host/files.ts';
import { startUnit } from '../../lib/host/systemd.ts';
import { readRenderInput } from '../../lib/render/render-input.ts';
import type { HostContext } from '../steps/host-context.ts';

const UNIT = 'sno-identity.service';

/**
 * Continues the cluster of a lost host, if the Ignition config has its backup ("sno create restore-ignition"): as
 * "sno-backup restore --new-host" does, without hands. The request is written once, however often this step runs, and
 * what Ignition wrote is deleted last.
 */
export const continueLost: StepBody<HostContext> = {
  name: 'continue-lost-host',
  leaves: 'the backup of the lost host among those of this one, and its restore under way',
  touches: ['disk', 'systemd'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: async ({ paths }) => !(await exists(lostHostPlaces(paths).folder)),
  async run(context, { signal }) {
    const { paths } = context;
    const { folder, backup } = lostHostPlaces(paths);
    if (!(await exists(folder))) return done('not needed');
    const lost = await readLostHost(paths);
    if (lost !== undefined && !(await wasRequested(context))) {
      const carried = { backup, identity: undefined, author: { kind: 'ignition' } } as const;
      const { name, header } = await importBackup(context, carried, signal);
      await requestIdentity(paths, {
        from: identityOf(header.renderInput),
        to: await ownIdentity(context),
        backup: name,
        ...(lost.keepsAuthorities ? { keepsAuthorities: true } : {}),
      });
    }
    // At later boots it starts by itself.
    if (lost !== undefined) await startUnit(UNIT, signal);
    // It has every key of the lost host.
    await removeOverwritten(backup);
    await rm(folder, { recursive: true, force: true });
    await syncDirectory(dirname(folder));
    return done('sno-identity restores its backup');
  },
};

const wasRequested = async ({ paths }: Pick<HostContext, 'paths'>): Promise<boolean> =>
  [await identityChange.read(paths), await identityChange.last(paths)].some(
    (each) => each?.backup !== undefined,
  );

async function ownIdentity({ paths }: Pick<HostContext, 'paths'>) {
  const input = await readRenderInput(paths);
  if (input !== undefined) return identityOf(input);
  throw new Failure('fatal', '/etc/sno-agents/render-input.json does not exist', {
    expected: 'what the control plane was rendered from',
  });
}
