import type { InLine, LinePlace, LineRule, LineSecret } from './line-rule.ts';
import { spanOf } from './separators.ts';

/** A line after which every line of a given shape is a secret. */
interface Block {
  readonly trigger: string;
  /** From the trigger on. */
  readonly begin: RegExp;
  readonly line: RegExp;
  /** Number of lines at most, unless `count` in `begin` tells it. */
  readonly lines?: number;
}

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
    line: /^(?!.*<\/auth)(?:.{0,120}\]: )?(?<secret>\S.{0,255}?)\s*$/d,
    lines: 2,
  },
  {
    // A mail server asks for "Password:".
    trigger: '334 ugfzc3',
    begin: /^334 UGFzc3/,
    line: /(?<secret>[A-Za-z0-9+/]{4,512}={0,2})\s*$/d,
    lines: 1,
  },
];

/** Keys and passwords in lines below one that says so. */
export const KEY_FILES: LineRule = { triggers: BLOCKS.map(({ trigger }) => trigger), at: linesAt };

function linesAt({ line, at, length, lines }: LinePlace): InLine {
  const next = at + length;
  const text = line.text.slice(at);
  const block = BLOCKS.find(({ begin }) => begin.test(text));
  if (block === undefined) return { next, secrets: [] };
  const secrets: LineSecret[] = [];
  let below = lines.after(line);
  const count = Number(block.begin.exec(text)?.groups?.count ?? block.lines);
  while (below !== undefined && secrets.length < count) {
    const secret = spanOf(block.line.exec(below.text) ?? undefined, 'secret');
    if (secret === undefined) break;
    secrets.push({ ...secret, line: below });
    below = lines.after(below);
  }
  return { next, secrets };
}
