import type { InLine, LinePlace, LineRule, LineSecret } from './line-rule.ts';
import { linesBelow } from './value-lines.ts';

/** Users and passwords in lines of their own: the list of cloud-init, the document that a shell gives to chpasswd. */
export const CHPASSWD: LineRule = { triggers: ['chpasswd:', 'chpasswd <<'], at: usersAt };

/** At the trigger. */
const LIST = /^chpasswd:\s{0,8}$/;
const HERE = /^chpasswd <<-?\s{0,4}["']?(?<end>\w{1,40})/i;
const USER =
  /^\s{0,80}(?:- )?["']?[a-z_][\w.-]{0,31}:(?<secret>[^\s"'][^"']{0,256}?)["']?\s{0,8}$/d;
const MAX_LINES = 50;

function usersAt({ line, at, length, lines, isLast }: LinePlace): InLine {
  const next = at + length;
  const here = line.text.slice(at);
  if (LIST.test(here)) {
    const { secrets, isOpen } = linesBelow({ line, lines, isLast }, at, { isAny: true });
    return { next, secrets: secrets.flatMap(withoutUser), isOpen };
  }
  const end = HERE.exec(here)?.groups?.end;
  if (end === undefined) return { next, secrets: [] };
  const secrets: LineSecret[] = [];
  let below = lines.after(line);
  for (let count = 0; count < MAX_LINES && below !== undefined; count++) {
    if (below.text.trim().endsWith(end)) return { next, secrets };
    secrets.push(...withoutUser({ start: 0, end: below.text.length, line: below }));
    below = lines.after(below);
  }
  return { next, secrets, isOpen: below === undefined && !isLast };
}

function withoutUser(secret: LineSecret): LineSecret[] {
  const { start, end, line } = secret;
  const place = USER.exec(line?.text.slice(start, end) ?? '')?.indices?.groups?.secret;
  if (place === undefined) return [];
  return [{ ...secret, start: start + place[0], end: start + place[1] }];
}
