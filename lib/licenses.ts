import { getAsset, isSea } from 'node:sea';
import { Failure } from './errors/failure.ts';

/**
 * The licences of everything of others that is in this executable, Node included.
 * @throws Failure (usage) where the source itself runs, of which nothing is passed on.
 */
export function licenses(): string {
  if (isSea()) return getAsset('licenses', 'utf8');
  throw new Failure('usage', 'the licences are in the built executable', {
    fix: 'Run "npm run build" and dist/bin/sno licenses.',
  });
}
