import { Failure } from '../../lib/base/errors/failure.ts';
import { isBadPath, systemErrorWords } from '../../lib/base/errors/system-error.ts';

/** For a command of a person: an error about a path as a Failure (usage) that names it; any other error as it is. */
export function asBadPath(error: unknown): unknown {
  if (!isBadPath(error)) return error;
  const { path = '' } = error;
  return new Failure('usage', `${path} cannot be used`, {
    subject: path,
    found: systemErrorWords(error),
    fix: 'Name another path, or make this one accessible.',
    cause: error,
    tellsCause: true,
  });
}
