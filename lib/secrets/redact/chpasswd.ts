import type { InLine, LineRule, Place, Secret } from './line-rule.ts';
import { linesBelow } from './value-lines.ts';

/** Users and passwords in lines of their own: the list of cloud-init, the document that a shell gives to chpasswd. */
export const CHPASSWD: LineRule = { triggers: ['chpasswd:', 'chpasswd <<'], at: usersAt };

const LIST = /chpasswd:\s{0,8}$/;
const HERE = /<<-?\s{0,4}["']?(?<end>\w{1,40})/;
const USER =
  /^\s{0,80}(?:- )?["']?[a-z_][\w.-]{0,31}:(?<secret>[^\s"'][^"']{0,256}?)["']?\s{0,8}$/d;
const MAX_LINES = 50;

function usersAt({ line, at, length, lines, isLast }: Place): InLine {
  const next = at + length;
  const { text } = line;
  if (LIST.test(text.slice(at, at + 20))) {
    const { secrets, isOpen } = linesBelow({ line, lines, isLast }, at, { isAny: true });
    return { next, secrets: secrets.flatMap(withoutUser), isOpen };
  }
  const end = HERE.exec(text.slice(next - 4, next + 60))?.groups?.end;
  if (end === undefined) return { next, secrets: [] };
  const secrets: Secret[] = [];
  let below = lines.after(line);
  for (let count = 0; count < MAX_LINES && below !== undefined; count++) {
    if (below.text.trim().endsWith(end)) return { next, secrets };
    secrets.push(...withoutUser({ start: 0, end: below.text.length, line: below }));
    below = lines.after(below);
  }
  return { next, secrets, isOpen: below === undefined && !isLast };
}

function withoutUser({ start, end, line }: Secret): Secret[] {
  const place = USER.exec(line?.text.slice(start, end) ?? '')?.indices?.groups?.secret;
  return place === undefined || line === undefined
    ? []
    : [{ start: start + place[0], end: start + place[1], line }];
}
