import { EVENT_ID, type Event } from 'js-yaml';
import { GoYamlFault } from './fault.ts';

/**
 * Refuses a tab where go-yaml could begin a key: at the begin of a line and after `-`, `?` or `:` there.
 * In texts, comments and brackets tabs are allowed.
 *
 * @throws GoYamlFault
 */
export function refuseTabs(text: string, events: readonly Event[]): void {
  if (!text.includes('\t')) return;
  const signs = withoutContents(text, events);
  let depth = 0;
  let start = 0;
  for (const line of signs.split('\n')) {
    const before = /^ *(?:[-?:] +)*[-?:]?\t/.exec(line);
    if (depth === 0 && before !== null) {
      throw new GoYamlFault('a tab is no indentation', start + before[0].length - 1);
    }
    depth += (line.match(/[[{]/g)?.length ?? 0) - (line.match(/[\]}]/g)?.length ?? 0);
    start += line.length + 1;
  }
}

/** The text with an x for each character of a scalar, name or tag, and without comments. */
function withoutContents(text: string, events: readonly Event[]): string {
  const parts: string[] = [];
  let at = 0;
  const skip = (from: number, to: number) => {
    if (from < at || to <= from) return;
    parts.push(text.slice(at, from), text.slice(from, to).replaceAll(/[^\n]/g, 'x'));
    at = to;
  };
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) continue;
    const names: [number, number][] = [[event.anchorStart, event.anchorEnd]];
    if (event.type !== EVENT_ID.ALIAS) names.push([event.tagStart, event.tagEnd]);
    if (event.type === EVENT_ID.SCALAR) names.push([event.valueStart, event.valueEnd]);
    for (const [from, to] of names.toSorted(([a], [b]) => a - b)) skip(from, to);
  }
  parts.push(text.slice(at));
  return parts.join('').replaceAll(/(?<=^|\s)#.*/gm, (comment) => ' '.repeat(comment.length));
}
