import type { InLine, LineRule, Place, Secret } from './line-rule.ts';

/** A line after which every line of a given shape is a secret. */
interface Block {
  readonly trigger: string;
  /** From the trigger on. */
  readonly begin: RegExp;
  readonly line: RegExp;
  /** Number of lines at most. */
  readonly lines: (begin: string) => number;
}

const BLOCKS: readonly Block[] = [
  {
    // PuTTY.
    trigger: 'private-lines: ',
    begin: /^private-lines: \d{1,3}\s*$/i,
    line: /(?<secret>[A-Za-z0-9+/]{4,64}={0,2})\s*$/d,
    lines: (begin) => Number(/\d+/.exec(begin)?.[0]),
  },
  {
    trigger: 'begin openvpn static key',
    begin: /^begin openvpn static key V\d-----\s*$/i,
    line: /(?<secret>[0-9a-f]{32})\s*$/d,
    lines: () => 64,
  },
  {
    // OpenVPN: user and password.
    trigger: '<auth-user-pass>',
    begin: /^<auth-user-pass>\s*$/,
    line: /^(?!.*<\/auth)(?:.{0,120}\]: )?(?<secret>\S.{0,255}?)\s*$/d,
    lines: () => 2,
  },
  {
    // A mail server asks for "Password:".
    trigger: '334 ugfzc3',
    begin: /^334 UGFzc3/,
    line: /(?<secret>[A-Za-z0-9+/]{4,512}={0,2})\s*$/d,
    lines: () => 1,
  },
];

/** Keys and passwords in lines below one that says so. */
export const KEY_FILES: LineRule = { triggers: BLOCKS.map(({ trigger }) => trigger), at: linesAt };

function linesAt({ line, at, length, lines, isLast }: Place): InLine {
  const next = at + length;
  const text = line.text.slice(at);
  const block = BLOCKS.find(({ begin }) => begin.test(text));
  if (block === undefined) return { next, secrets: [] };
  const secrets: Secret[] = [];
  let below = lines.after(line);
  for (let count = block.lines(text); count > 0 && below !== undefined; count--) {
    const [start, end] = block.line.exec(below.text)?.indices?.groups?.secret ?? [];
    if (start === undefined || end === undefined) return { next, secrets };
    secrets.push({ start, end, line: below });
    below = lines.after(below);
  }
  return { next, secrets, isOpen: below === undefined && !isLast };
}
