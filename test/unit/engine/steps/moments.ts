import { isBeside } from './overlaps.ts';

/** What a process does that others can see. */
export interface Effect {
  readonly text: string;
  /** How many requests the servers of the test had got before it. */
  readonly requests: number;
  /** By their numbers, the effects that a power cut before it takes back; undefined if it empties a file as well. */
  readonly lost: ReadonlySet<number> | undefined;
}

export interface Moment {
  readonly losesPower: boolean;
  /** Before the effect of this number; after the last one at the end. */
  readonly at: number;
}

const isSync = ({ text }: Effect): boolean => /^(data)?sync /.test(text);

/**
 * The moments that leave different hosts. A sync changes nothing that is seen. What a power cut leaves is mostly what a
 * killed process had left at an earlier moment. While files are written beside their targets, the last moment stands for all:
 * the most of them is left over then, and nobody reads them.
 */
export function differentMoments(effects: readonly Effect[]): Moment[] {
  const seen = new Set<string>();
  const found: Moment[] = [];
  for (const losesPower of [false, true]) {
    const ofThis: Moment[] = [{ losesPower, at: effects.length }];
    for (let at = effects.length - 1; at >= 0; at -= 1) {
      const left = leftAt(effects, at, losesPower);
      if (left !== undefined && seen.has(left)) continue;
      if (left !== undefined) seen.add(left);
      ofThis.push({ losesPower, at });
    }
    found.push(...ofThis.toReversed());
  }
  return found;
}

/** Stands for the state of the host; undefined if it is like no other. */
function leftAt(effects: readonly Effect[], at: number, losesPower: boolean): string | undefined {
  const { requests, lost } = effects[at] ?? { requests: 0, lost: undefined };
  const gone = losesPower ? lost : new Set<number>();
  if (gone === undefined) return undefined;
  const emptied = filesOf(effects, gone);
  const left = effects.slice(0, at).flatMap((effect, index) => {
    if (isSync(effect) || gone.has(index) || emptied.has(fileOf(effect))) return [];
    return isBeside(effect.text) ? [besideSince(effects, index)] : [index];
  });
  return `${requests}: ${[...new Set(left)].join()}`;
}

/** The file that is written; '' for another effect. */
const fileOf = ({ text }: Effect): string =>
  /^(?:write|writeFile|chmod|truncate) (\S+)$/.exec(text)?.[1] ?? '';

/** The new files that are gone with their contents. */
function filesOf(effects: readonly Effect[], gone: ReadonlySet<number>): ReadonlySet<string> {
  const opened = [...gone].map((index) => /^open (\S+)$/.exec(effects[index]?.text ?? '')?.[1]);
  return new Set(opened.filter((path) => path !== undefined));
}

/** The first of the effects on files beside their targets that follow one another. */
function besideSince(effects: readonly Effect[], index: number): number {
  let first = index;
  for (let before = effects[first - 1]; before !== undefined; before = effects[first - 1]) {
    if (!isSync(before) && !isBeside(before.text)) break;
    first -= 1;
  }
  return first;
}
