import { SNAPSHOT_FILE } from '../../../../lib/cluster/installation/snapshot-record.ts';
import { identity } from '../../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../../lib/engine/steps/step.ts';
import { within } from '../../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../../lib/host/settings.ts';
import { canHash, etcdutlIn } from '../../../../lib/render/openshift/etcdutl.ts';
import type { HostContext } from '../../../steps/host-context.ts';
import { checkIdentity } from '../../restore/check-identity.ts';
import { placeEtcd } from '../../restore/place-etcd.ts';
import { requireRecord, restoreFile } from '../../restore/record.ts';
import { restoreDatabaseOf } from '../../restore/restore-database.ts';
import { etcdImage, installedPodman, memberToRestore } from './etcd-image.ts';

/** The same steps as for Kubernetes, with the member and the program of the release. */
export const openShiftRestorePlan = (s: Settings): Plan<HostContext> => ({
  ...identity('sno-restore'),
  achieved: 'etcd is rebuilt',
  steps: [
    within(s, 'identityMs', checkIdentity),
    within(s, 'payloadMs', etcdImage),
    within(s, 'restoreMs', restoreDatabase),
    within(s, 'finishMs', placeEtcd),
  ],
});

const restoreDatabase = restoreDatabaseOf(async (context) => {
  const { image, ...member } = await memberToRestore(context);
  const { paths } = context;
  const { etcdVersion } = await requireRecord(context);
  return {
    ...member,
    etcdutl: etcdutlIn(installedPodman, image, [
      restoreFile(context, SNAPSHOT_FILE),
      paths.etcdData,
    ]),
    hashes: canHash(etcdVersion),
  };
});
