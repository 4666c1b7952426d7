import type { Inside, RuleFindings, SecretRule, Span } from './rule.ts';

/** Command lines in the records of auditd: the arguments of EXECVE, of which one can tell that the next is a secret. */
export const AUDIT: SecretRule = { triggers: ['argc='], inLine: commandAt };

const ARGUMENT =
  /(?<![\w])a\d{1,5}(?:\[\d{1,5}\])?=(?:"(?<plain>[^"]{0,65536})"|(?<hex>(?:[0-9A-F]{2}){2,65536})(?![\w]))/dg;

function commandAt(line: string, at: number, inside: Inside): RuleFindings {
  const next = line.length;
  const values = [...line.slice(at).matchAll(ARGUMENT)].map(({ groups, indices }): Argument => {
    const { plain, hex = '' } = groups ?? {};
    const [start = 0, end = 0] = indices?.groups?.plain ?? indices?.groups?.hex ?? [];
    const text = plain ?? Buffer.from(hex, 'hex').toString('latin1');
    return { start: at + start, end: at + end, text };
  });
  const safe = inside(values.map(({ text }) => text).join('\0'))?.text.split('\0');
  if (safe === undefined) return { next, secrets: [] };
  const isKept = safe.length === values.length;
  return {
    next,
    secrets: values.filter(({ text }, index) => text !== (isKept ? safe[index] : '')),
  };
}

interface Argument extends Span {
  readonly text: string;
}
