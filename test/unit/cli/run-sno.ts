import { runSno } from '../../../cli/sno.ts';

export interface Run {
  code: number;
  out: string;
  err: string;
}

export async function sno(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Run> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runSno(args, {
    environment,
    print: (line) => out.push(line),
    complain: (text) => err.push(text),
    signal: AbortSignal.timeout(60_000),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}
