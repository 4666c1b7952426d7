import { getAsset, isSea } from 'node:sea';
import { Failure } from './errors/failure.ts';

/**
 * The licences of all third-party components in this executable, Node included.
 * @throws Failure (usage) when run from source, which distributes none of them.
 */
export function licenses(): string {
  if (isSea()) return getAsset('licenses', 'utf8');
  throw new Failure('usage', 'the licences are in the built executable', {
    fix: 'Run "npm run build" and dist/bin/sno licenses.',
  });
}
