import { Failure } from '../../lib/base/errors/failure.ts';
import { STATIC_POD_OPERATOR } from '../components/openshift/release-operators.ts';
import type { ImageRoots } from './image-roots.ts';

/** What the operator and its pods run, with an argument that only that command has. */
const COMMANDS = {
  operator: '--component',
  installer: '--pod-manifest-dir',
  prune: '--max-eligible-revision',
} as const;

/** The program of the static pod operators must start in its image. */
export async function requireStaticPodOperator(
  roots: ImageRoots,
  signal: AbortSignal,
): Promise<void> {
  const root = await roots.of(STATIC_POD_OPERATOR, signal);
  for (const [command, argument] of Object.entries(COMMANDS)) {
    const said = await root.run([command, '--help'], signal);
    if (said.includes(argument)) continue;
    throw new Failure('fatal', `image ${STATIC_POD_OPERATOR}: unexpected output of ${command}`, {
      expected: argument,
      found: said.slice(0, 200),
    });
  }
}
