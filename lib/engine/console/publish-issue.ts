import { hostname } from 'node:os';
import { execa } from 'execa';
import { z } from 'zod';
import { productVersion } from '../../base/version.ts';
import { clusterPath } from '../../config/cluster/read-cluster.ts';
import { exists, readTextIfPresent, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { sealedPath } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';
import { recordPath } from '../agents/records.ts';
import { AGENTS } from '../agents/table.ts';
import { readStatus } from '../steps/status.ts';
import { readLast } from '../trial/store.ts';
import { wasAsked } from '../trial/trial.ts';
import { type Installed, type Issue, isShownAtOnce, issueOf } from './issue.ts';
import { readStickNotes } from './stick-notes.ts';

/**
 * Where agetty looks. It reads /run/issue.d only if /etc/issue does not exist, but
 * always reads /etc/issue.d; a symlink there allows agents that may not write to
 * /etc to write the text.
 */
export const issueLink = {
  path: '/etc/issue.d/30-sno-agents.issue',
  target: '/run/sno-agents/console.issue',
} as const;

const presentSchema = z.object({ name: z.string(), baseDomain: z.string() });
const recordSchema = z.object({ cluster: z.string(), completed: z.string() });
// Nobody reads it: what is shown stays.
const damaged = { expected: 'the record of the installation', fix: 'Restore it.' };
/** More than the number of agents that can write concurrently. */
const MAX_ROUNDS = 10;

/**
 * Writes the login prompt's text about this host, from the statuses of all agents.
 * Every agent calls it after its status has changed; it rereads the statuses after
 * writing, so that of two concurrent writers the later one is right. Never rejects:
 * the text of a prompt must not fail an installation.
 */
export async function publishIssue(paths: HostPaths): Promise<void> {
  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if (!(await writeIfChanged(paths))) return;
    }
  } catch {
    // /run is full, or a status is being replaced: the next change retries.
  }
}

async function writeIfChanged(paths: HostPaths): Promise<boolean> {
  const path = paths.at(issueLink.target);
  const before = await readTextIfPresent(path);
  const issue = await currentIssue(paths);
  if (issue === undefined || issue.text === before) return false;
  await writeFileAtomic(path, issue.text, 0o644);
  if (paths.root === '/' && isShownAtOnce(issue, before)) await showAgain();
  return true;
}

/** Makes each idle login prompt reread its files; a prompt in use is left alone. */
async function showAgain(): Promise<void> {
  await execa('agetty', ['--reload'], { timeout: 10_000, reject: false, stdio: 'ignore' });
}

async function currentIssue(paths: HostPaths): Promise<Issue | undefined> {
  const statuses = await Promise.all(
    AGENTS.map(({ name }) => readStatus(`${paths.run}/${name}/status.json`)),
  );
  const site = await readSite(paths);
  return issueOf(
    statuses.filter((status) => status !== undefined),
    await readInstalled(paths, site),
    {
      node: hostname(),
      version: productVersion,
      ...(site === undefined ? {} : { serial: site.volume.serial }),
    },
  );
}

/** Of what `reconfigure` records of the last site volume (lib/change/site/request.ts). */
const siteSchema = z.object({
  /** Also that of its trial. */
  id: z.string(),
  outcome: z.string(),
  endedAt: z.string(),
  volume: z.object({ serial: z.number() }),
});

type Site = z.infer<typeof siteSchema>;

const readSite = (paths: HostPaths): Promise<Site | undefined> =>
  stateFile(recordPath(paths, 'reconfigure'), siteSchema, { damaged: 'none' }).read();

async function readInstalled(
  paths: HostPaths,
  site: Site | undefined,
): Promise<Installed | undefined> {
  const record = await stateFile(paths.record, recordSchema, { damaged }).read();
  if (record === undefined) return undefined;
  const { cluster, completed } = record;
  const description = stateFile(clusterPath(paths), presentSchema, { damaged: 'none' });
  const present = await description.read();
  const last = await readLast(paths);
  return {
    // The record gets another name at the end of a change only.
    cluster: present === undefined ? cluster : `${present.name}.${present.baseDomain}`,
    completed,
    // The record of one that was taken back is corrected a little later.
    ...(site?.outcome === 'configured' && (site.id !== last?.id || last.outcome === 'confirmed')
      ? { site: { serial: site.volume.serial, since: site.endedAt } }
      : {}),
    awaitsSite: await exists(sealedPath(paths)),
    stickNotes: await readStickNotes(paths),
    isConfirmed: last?.outcome === 'confirmed',
    ...(last !== undefined && wasAsked(last)
      ? { takenBack: { what: last.what, at: last.endedAt } }
      : {}),
  };
}
