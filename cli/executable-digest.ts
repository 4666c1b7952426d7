import { dirname, join } from 'node:path';
import { Failure } from '../lib/errors/failure.ts';
import { sha256OfFile } from '../lib/host/files.ts';

/** Defined by the build: of the sno-agents that was built with this program. */
declare const __SNO_AGENTS_SHA256__: string | undefined;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * SHA-256 (hex) of the sno-agents executable that the live medium has to carry: of
 * `executable` if given, else the one that this program was built with, else of the file
 * that `environment.SNO_AGENTS_EXECUTABLE` names. A usage Failure when none is known.
 */
export async function agentsSha256(
  executable: string | undefined,
  environment: Environment,
  signal: AbortSignal,
): Promise<string> {
  if (executable === undefined && typeof __SNO_AGENTS_SHA256__ !== 'undefined') {
    return __SNO_AGENTS_SHA256__;
  }
  const path = executable ?? environment.SNO_AGENTS_EXECUTABLE;
  if (path === undefined || path === '') throw unknownExecutable();
  try {
    return await sha256OfFile(path, signal);
  } catch (cause) {
    throw new Failure('usage', `The sno-agents executable ${path} cannot be read`, { cause });
  }
}

/**
 * Path of that executable: `executable` if given, else beside this program when that is
 * built, else as `environment.SNO_AGENTS_EXECUTABLE` says. A usage Failure when there is none.
 */
export function agentsExecutable(executable: string | undefined, environment: Environment): string {
  if (executable !== undefined) return executable;
  if (typeof __SNO_AGENTS_SHA256__ !== 'undefined') {
    return join(dirname(process.execPath), 'sno-agents');
  }
  const path = environment.SNO_AGENTS_EXECUTABLE;
  if (path !== undefined && path !== '') return path;
  throw unknownExecutable();
}

function unknownExecutable(): Failure {
  return new Failure('usage', 'It is not known which sno-agents executable the medium carries', {
    fix: 'Name it with --agents-executable or in SNO_AGENTS_EXECUTABLE.',
  });
}
