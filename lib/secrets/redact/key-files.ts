import { type Line, lineAfter, lineEnd } from './below.ts';
import type { Assigned, Span, UnwrappedRule } from './line-rule.ts';
import { startOfLine } from './prose.ts';
import { spanOf } from './separators.ts';

/** A line after which every line of a given shape is a secret. */
interface Block {
  readonly trigger: string;
  /** From the trigger on. */
  readonly begin: RegExp;
  readonly line: RegExp;
  /** Number of lines at most, unless `count` in `begin` tells it. */
  readonly lines?: number;
  /** The first line that does not belong to it: of a shape, or not indented; without, the first one of another shape. */
  readonly until?: RegExp | 'outdent';
}

/** For chpasswd: the user stays. */
const USER =
  /^\s{0,80}(?:- )?["']?[a-z_][\w.-]{0,31}:(?! |$)(?<secret>[^\s"'][^"']{0,256}?)["']?\s{0,8}$/d;

const BLOCKS: readonly Block[] = [
  {
    // PuTTY.
    trigger: 'private-lines: ',
    begin: /^private-lines: (?<count>\d{1,3})\s*$/i,
    line: /(?<secret>[A-Za-z0-9+/]{4,64}={0,2})\s*$/d,
  },
  {
    trigger: 'begin openvpn static key',
    begin: /^begin openvpn static key V\d-----\s*$/i,
    line: /(?<secret>[0-9a-f]{32})\s*$/d,
    lines: 64,
  },
  {
    // OpenVPN: user and password.
    trigger: '<auth-user-pass>',
    begin: /^<auth-user-pass>\s*$/,
    line: /^(?!.*<\/auth)(?<secret>\S.{0,255}?)\s*$/d,
    lines: 2,
  },
  {
    // A mail server asks for "Password:".
    trigger: '334 ugfzc3',
    begin: /^334 UGFzc3/,
    line: /(?<secret>[A-Za-z0-9+/]{4,512}={0,2})\s*$/d,
    lines: 1,
  },
  // The list of cloud-init, and the document that a shell gives to the program.
  { trigger: 'chpasswd:', begin: /^chpasswd:\s{0,8}$/i, line: USER, lines: 50, until: 'outdent' },
  {
    trigger: 'chpasswd <<',
    begin: /^chpasswd <<-?\s{0,4}["']?(?<end>\w{1,40})/i,
    line: USER,
    lines: 50,
    until: /^\s*\w+\s*$/,
  },
];

/** Keys and passwords in lines below one that says so. */
export const KEY_FILES: UnwrappedRule = {
  triggers: BLOCKS.map(({ trigger }) => trigger),
  unwrapped: linesAt,
};

function linesAt(text: string, at: number, length: number): Assigned {
  const next = at + length;
  const end = lineEnd(text, at);
  const begin = text.slice(at, Math.min(end, at + 200));
  const block = BLOCKS.find((each) => each.begin.test(begin));
  if (block === undefined) return { next, secrets: [] };
  const secrets: Span[] = [];
  const indent = startOfLine(text, at).text.search(/\S|$/);
  const count = Number(block.begin.exec(begin)?.groups?.count ?? block.lines);
  let line: Line | undefined = lineAfter(text, end);
  for (let read = 0; line !== undefined && read < count; read++) {
    const isEnd =
      block.until === 'outdent' ? line.text.search(/\S/) <= indent : block.until?.test(line.text);
    if (isEnd === true) return { next, secrets };
    const secret = spanOf(block.line.exec(line.text) ?? undefined, 'secret');
    if (secret === undefined && block.until === undefined) return { next, secrets };
    if (secret !== undefined) {
      secrets.push({ start: line.start + secret.start, end: line.start + secret.end });
    }
    line = lineAfter(text, line.end);
  }
  return { next, secrets, isOpen: line === undefined };
}
