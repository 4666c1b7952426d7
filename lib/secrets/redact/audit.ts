import type { Inside, RuleFindings, SecretRule, Span } from './rule.ts';

/** Command lines in the records of auditd: the arguments of EXECVE, and what it writes in hexadecimal. */
export const AUDIT: SecretRule = {
  triggers: ['argc=', 'proctitle=', ' cmd=', ' data='],
  inLine: commandAt,
};

const ARGUMENT =
  /(?<![\w])a\d{1,5}(?:\[\d{1,5}\])?=(?:"(?<plain>[^"]{0,65536})"|(?<hex>(?:[0-9A-F]{2}){2,65536})(?![\w]))/dg;
const ENCODED = /(?:proctitle| cmd| data)=(?<hex>(?:[0-9A-F]{2}){6,65536})(?![\w])/dy;

function commandAt(line: string, at: number, inside: Inside): RuleFindings {
  const isList = line.startsWith('argc=', at);
  const shape = isList ? ARGUMENT : ENCODED;
  shape.lastIndex = at;
  const values: (Span & { readonly text: string })[] = [];
  for (let match = shape.exec(line); match !== null; match = shape.exec(line)) {
    const { plain, hex } = match.indices?.groups ?? {};
    const [start, end] = plain ?? hex ?? [at, at];
    const own = line.slice(start, end);
    values.push({ start, end, text: plain ? own : Buffer.from(own, 'hex').toString('latin1') });
    if (!isList) break;
  }
  const next = isList ? line.length : (values[0]?.end ?? at);
  // An argument can tell that the next one is a secret.
  const safe = inside(values.map(({ text }) => text).join('\0'))?.text.split('\0');
  if (safe === undefined) return { next, secrets: [] };
  const isKept = safe.length === values.length;
  return {
    next,
    secrets: values.filter(({ text }, index) => text !== (isKept ? safe[index] : '')),
  };
}
