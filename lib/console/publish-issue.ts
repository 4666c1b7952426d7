import { execa } from 'execa';
import { z } from 'zod';
import { AGENTS } from '../agents/table.ts';
import { readTextIfPresent, writeFileAtomic } from '../host/files.ts';
import type { HostPaths } from '../host/paths.ts';
import { readStatus } from '../steps/status.ts';
import { type Installed, type Issue, issueOf } from './issue.ts';

/**
 * Where agetty looks. It reads /run/issue.d only where there is no /etc/issue, but /etc/issue.d
 * always; a link there lets the text be written by agents that may not write to /etc.
 */
export const issueLink = {
  path: '/etc/issue.d/30-sno-agents.issue',
  target: '/run/sno-agents/console.issue',
} as const;

const recordSchema = z.object({ cluster: z.string(), completed: z.string() });
/** More rounds than agents that may write at once. */
const MAX_ROUNDS = 10;

/**
 * Writes what the login prompt says of this host, from the statuses of all agents. Every agent
 * calls it after its status has changed; it looks again after it wrote, so that of two at once the
 * later one is right. Never rejects: no installation fails for the text of a prompt.
 */
export async function publishIssue(paths: HostPaths): Promise<void> {
  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if (!(await writeIfChanged(paths))) return;
    }
  } catch {
    // A full /run, or a status that is being replaced: the next change tries again.
  }
}

async function writeIfChanged(paths: HostPaths): Promise<boolean> {
  const path = paths.at(issueLink.target);
  const before = await readTextIfPresent(path);
  const issue = await currentIssue(paths);
  if (issue === undefined || issue.text === before) return false;
  await writeFileAtomic(path, issue.text, 0o644);
  if (paths.root === '/' && isNews(issue, before)) await showAgain();
  return true;
}

/** A prompt redrawn at every step would scroll away what a person reads. */
const isNews = ({ verdict }: Issue, before: string | undefined): boolean =>
  before === undefined || (verdict !== 'installing' && verdict !== 'restarting');

/** Has each waiting login prompt read its files again; one in use does not. */
async function showAgain(): Promise<void> {
  await execa('agetty', ['--reload'], { timeout: 10_000, reject: false, stdio: 'ignore' });
}

async function currentIssue(paths: HostPaths): Promise<Issue | undefined> {
  const statuses = await Promise.all(
    AGENTS.map(({ name }) => readStatus(`${paths.run}/${name}/status.json`)),
  );
  return issueOf(
    statuses.filter((status) => status !== undefined),
    await readInstalled(paths),
  );
}

async function readInstalled({ record }: HostPaths): Promise<Installed | undefined> {
  const text = await readTextIfPresent(record);
  return text === undefined ? undefined : recordSchema.parse(JSON.parse(text));
}
