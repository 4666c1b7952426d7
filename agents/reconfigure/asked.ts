import { z } from 'zod';
import { askedPath } from '../../lib/change/site/places.ts';
import { bootMoment } from '../../lib/host/boot.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { stateFile } from '../../lib/host/state-file.ts';

/** Whatever starts it: media that are inserted one after the other, and the timer. */
const AGAIN_S = 300;

const askedSchema = z.object({
  url: z.string(),
  /** Seconds since the boot when it was asked last: nobody can set that clock. */
  up: z.number(),
  /** What was found then. */
  answer: z.string().optional(),
  /** SHA-256 of the volume from there that was judged, and is not carried out. */
  judged: z.string().optional(),
});

/** What this boot knows of the URL of the factory. */
export type Asked = z.infer<typeof askedSchema>;

const file = (paths: Pick<HostPaths, 'run'>) =>
  stateFile(askedPath(paths), askedSchema, { damaged: 'none', folderMode: 0o700 });

/** Undefined if this boot has not asked this URL. */
export async function lastAsked(
  paths: Pick<HostPaths, 'run'>,
  url: string,
): Promise<Asked | undefined> {
  const asked = await file(paths).read();
  return asked?.url === url ? asked : undefined;
}

/** Whether a question is due. */
export async function isDue(asked: Asked | undefined): Promise<boolean> {
  return asked === undefined || (await bootMoment()).up - asked.up >= AGAIN_S;
}

/** Notes that it is asked now, before it is. */
export async function noteQuestion(paths: Pick<HostPaths, 'run'>, url: string): Promise<void> {
  const { up } = await bootMoment();
  await file(paths).write({ ...(await lastAsked(paths, url)), url, up });
}

/** Notes what came of it. */
export async function noteAnswer(
  paths: Pick<HostPaths, 'run'>,
  url: string,
  answer: Pick<Asked, 'answer' | 'judged'>,
): Promise<void> {
  const { up } = await bootMoment();
  await file(paths).write({ url, up, ...(await lastAsked(paths, url)), ...answer });
}

/** Whether two answers say the same; how long a server kept curl waiting is no news. */
export const isSameAnswer = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && withoutNumbers(one) === withoutNumbers(other);

const withoutNumbers = (answer: string) => answer.replace(/\d+ (?=ms\b|milliseconds|bytes)/g, '');
