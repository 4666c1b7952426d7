import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ETCD_MANIFEST_FILE } from '../../../lib/cluster/installation/snapshot-record.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent, sha256, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { restoreFile } from './record.ts';

/** Places etcd's static pod, now that its database is restored. */
export const placeEtcd: StepBody<HostContext> = {
  name: 'place-etcd',
  leaves: "etcd's manifest among the static pods",
  touches: ['disk'],
  input: async (context) => sha256(await manifestOf(context)),
  holds: async (context) =>
    (await readTextIfPresent(target(context))) === (await manifestOf(context)),
  async run(context) {
    await writeFileAtomic(target(context), await manifestOf(context), 0o600);
    return done();
  },
};

const manifestOf = (context: HostContext) =>
  readFile(restoreFile(context, ETCD_MANIFEST_FILE), 'utf8');
const target = ({ paths }: HostContext) => join(paths.staticPods, ETCD_MANIFEST_FILE);
