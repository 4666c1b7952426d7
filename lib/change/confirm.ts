import { createInterface } from 'node:readline/promises';
import { Failure } from '../base/errors/failure.ts';

/** Asks a person to type "yes". @throws Failure (usage) if nobody did; `what` names what is then not done. */
export async function confirm(question: string, what: string): Promise<void> {
  if (process.stdin.isTTY) {
    using asking = createInterface({ input: process.stdin, output: process.stdout });
    if ((await asking.question(`Type "yes" to ${question}: `)).trim() === 'yes') return;
  }
  throw new Failure('usage', `${what} was not confirmed`, { fix: 'Add --yes.' });
}
