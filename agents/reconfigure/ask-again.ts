import { rm } from 'node:fs/promises';
import { fetchedPath } from '../../lib/change/site/places.ts';
import { siteChange } from '../../lib/change/site/request.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { startUnit } from '../../lib/host/systemd.ts';
import { readFactoryPolicy } from '../../lib/relocation/relocatable/policy.ts';
import { fetchIso, judgedBefore, placeToAsk } from './ask-url.ts';
import { isSameAnswer, lastAsked, noteAnswer } from './asked.ts';

/** Judges a volume, and carries it out. */
const UNIT = 'reconfigure.service';
/** A link, and the transfer; sno-site-url.service has more. */
const ASK_MS = 200_000;

/**
 * What the timer of a sealed host runs: its volume may be published after its boot. A new volume is left to
 * `reconfigure.service`; any other answer ends well. Returns a line for the journal, or undefined if there is nothing new
 * to say.
 */
export async function askAgain(
  paths: HostPaths,
  signal: AbortSignal = AbortSignal.timeout(ASK_MS),
): Promise<string | undefined> {
  const url = await dueUrl(paths, signal);
  if (url === undefined) return undefined;
  const before = await lastAsked(paths, url);
  const answered = await fetchIso(paths, url, signal);
  if (answered.kind === 'iso' && answered.sha256 !== before?.judged) {
    const line = `a site volume from ${url}: ${UNIT} judges it`;
    await noteAnswer(paths, url, { answer: line });
    await startUnit(UNIT, signal);
    return line;
  }
  await rm(fetchedPath(paths), { force: true });
  const answer = answered.kind === 'iso' ? judgedBefore(url) : answered.why;
  if (isSameAnswer(before?.answer, answer)) return undefined;
  await noteAnswer(paths, url, { answer });
  return answer;
}

async function dueUrl(paths: HostPaths, signal: AbortSignal): Promise<string | undefined> {
  const policy = await readFactoryPolicy(paths);
  if (policy === undefined || (await siteChange.read(paths)) !== undefined) return undefined;
  const place = await placeToAsk(paths, policy, signal);
  return place?.isDue === true ? place.url : undefined;
}
