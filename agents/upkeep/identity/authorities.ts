import { Failure } from '../../../lib/base/errors/failure.ts';
import { readManifest } from '../../../lib/change/backup/store.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent, writeFileAtomic } from '../../../lib/host/files.ts';
import type { KeyPair } from '../../../lib/pki/authority.ts';
import {
  type AuthorityName,
  authorityNames,
  authorityPaths,
  laptopAdminCa,
  mediumServingCa,
} from '../../../lib/render/kubernetes/authorities.ts';
import {
  leafChanges,
  type ReadText,
  type Replaced,
  signerChanges,
  trustChanges,
} from '../../steps/certificates/authority-files.ts';
import { writeChanges } from '../../steps/certificates/changes.ts';
import { readAuthority } from '../../steps/leaf-files.ts';
import type { RestoreContext } from '../../steps/restore/context.ts';
import { backupPath } from '../../steps/restore/places.ts';
import { savedKey } from '../../steps/restore/replace.ts';
import type { IdentityContext } from './context.ts';
import { restoringOf } from './from-backup.ts';

/**
 * Takes over the authorities of the lost host, while the control plane is stopped: what they have signed for
 * administrators and workers stays valid. Every other key is this host's own: leaves are signed for new keys.
 * The authorities are written last, so an interrupted attempt is repeated.
 */
export const authorities: StepBody<IdentityContext> = {
  name: 'authorities',
  leaves:
    'the authorities of the lost host, where they are kept, and certificates of this host by them',
  touches: ['disk', 'clock'],
  retries: true,
  neededUntil: 'start',
  input: ({ request }) => request.id,
  async holds(context) {
    const restoring = keeping(context);
    if (restoring === undefined) return true;
    const present = await Promise.all(
      authorityNames.map((name) => readAuthority(context.paths, name)),
    );
    const kept = await Promise.all(authorityNames.map((name) => keptAuthority(restoring, name)));
    return kept.every(
      ({ certificate, key }, at) =>
        certificate === present[at]?.certificate && key === present[at]?.key,
    );
  },
  async run(context) {
    const { paths } = context;
    const restoring = keeping(context);
    if (restoring === undefined) return done('not needed');
    const read: ReadText = (path) => readTextIfPresent(paths.at(path));
    const replaced = new Map<AuthorityName, { old: KeyPair; next: KeyPair }>();
    for (const name of authorityNames) {
      const next = await keptAuthority(restoring, name);
      replaced.set(name, { old: await readAuthority(paths, name), next });
    }
    // Others may have its key: with the disk of the lost host, or with an Ignition config.
    const { certificate } = await keptAuthority(restoring, 'serving');
    await writeFileAtomic(paths.at(mediumServingCa), certificate, 0o644);
    const { changes } = await leafChanges(replaced, read, new Date());
    await writeChanges(paths, [
      ...(await trusted(replaced, read)),
      ...changes,
      ...signerChanges(replaced),
    ]);
    return done(authorityNames.join(', '));
  },
};

const keeping = (context: IdentityContext): RestoreContext | undefined =>
  context.request.keepsAuthorities === true ? restoringOf(context) : undefined;

const trusted = async (replaced: Replaced, read: ReadText) =>
  trustChanges(replaced, read, ({ next }) => [next], await read(laptopAdminCa));

async function keptAuthority(restoring: RestoreContext, name: AuthorityName): Promise<KeyPair> {
  const { certificate, key } = authorityPaths(name);
  return {
    certificate: await keptFile(restoring, certificate),
    key: await keptFile(restoring, key),
  };
}

async function keptFile(restoring: RestoreContext, host: string): Promise<string> {
  const { files } = await readManifest(backupPath(restoring));
  const copy = files.find((file) => file.host === host);
  if (copy !== undefined) return savedKey(restoring, copy.path, host);
  throw new Failure('fatal', `the backup has no ${host}`, { code: 'backup-unusable' });
}
