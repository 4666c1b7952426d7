import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { recordPath } from '../../../lib/engine/agents/records.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { bootMoment } from '../../../lib/host/boot.ts';
import { ifMissing, readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { stateFile } from '../../../lib/host/state-file.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { bootedDeployment } from '../../steps/other-deployments.ts';

const recordSchema = z.object({
  schemaVersion: z.literal(1),
  /** Path of the deployment that booted last with an /etc of its own time. */
  deployment: z.string(),
  /** What the deployment of this boot has in its /etc from before: the log bundle's report reads it. */
  older: z.object({ deployment: z.string(), files: z.array(z.string()) }).optional(),
});

/** Files of /etc that belong to what is in /var: the name of the cluster and of the host, and the authorities. */
const FILES = ['sno-agents/cluster.json', 'sno-agents/kubelet.env', 'hostname'];
const AUTHORITIES = 'kubernetes/pki';
const AUTHORITY = /(^|[-/])ca\.crt$/;

/**
 * Recognises a rollback of an ostree system, which brings an earlier /etc back and leaves /var as it is. An update copies
 * /etc, so that both deployments have the same files until something changes them in the one that runs: if the one that
 * booted last has others, this one's are older. What the host does then is not stopped: only people know which is right.
 */
export const deployment: StepBody<HostContext> = {
  name: 'deployment',
  leaves:
    'the booted deployment of an ostree system on record, or a warning that its /etc is from before /var',
  touches: ['disk'],
  retries: true,
  // At each boot: a warning that was given once is not seen by whoever comes later.
  input: async ({ paths }) => [await bootedDeployment(paths), (await bootMoment()).boot],
  holds: async () => true,
  async run({ paths }, progress) {
    const booted = await bootedDeployment(paths);
    if (booted === undefined) return done('the system has no deployments');
    const record = await file(paths).read();
    const last = record?.deployment;
    if (last === booted && record?.older === undefined) return done();
    const older = last === undefined ? [] : await differing(paths, `${last}/etc`);
    if (last !== undefined && older.length > 0) {
      progress.warn(
        `The /etc of this deployment, ${booted}, is older than /var: ${older.join(', ')} changed since in ${last}, which booted before. Boot that one again ("rpm-ostree rollback", or its entry in the boot menu), or restore a backup from before the change ("sno-backup list").`,
      );
      await file(paths).write({
        schemaVersion: 1,
        deployment: last,
        older: { deployment: booted, files: older },
      });
      return done('an earlier /etc than before');
    }
    await file(paths).write({ schemaVersion: 1, deployment: booted });
    return done(booted);
  },
};

const file = (paths: HostPaths) =>
  stateFile(recordPath(paths, 'deployment'), recordSchema, { damaged: 'none' });

/** Which of the files are others in that /etc; none if it does not exist any more. */
async function differing(paths: HostPaths, etc: string): Promise<string[]> {
  const names = [
    ...FILES,
    ...(await authoritiesIn(paths.at('/etc'))),
    ...(await authoritiesIn(paths.at(etc))),
  ];
  const found: string[] = [];
  for (const name of new Set(names)) {
    const there = await readTextIfPresent(join(paths.at(etc), name));
    const here = await readTextIfPresent(paths.at(`/etc/${name}`));
    if (there !== here) found.push(`/etc/${name}`);
  }
  const isThere = (await readTextIfPresent(join(paths.at(etc), FILES[0] ?? ''))) !== undefined;
  return isThere ? found.toSorted() : [];
}

async function authoritiesIn(etc: string): Promise<string[]> {
  const folder = join(etc, AUTHORITIES);
  const names = (await readdir(folder, { recursive: true }).catch(ifMissing)) ?? [];
  return names.filter((name) => AUTHORITY.test(name)).map((name) => join(AUTHORITIES, name));
}
