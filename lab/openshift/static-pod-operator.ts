import { join } from 'node:path';
import { Failure } from '../../lib/errors/failure.ts';
import { ensureComponent } from '../components/component.ts';
import {
  STATIC_POD_OPERATOR_ARCHIVE,
  staticPodOperatorImage,
} from '../components/openshift/static-pod-operator-image.ts';
import { ImageRoot } from './image-root.ts';

/** What the operator and its pods run, with an argument that only that command has. */
const COMMANDS = {
  operator: '--component',
  installer: '--pod-manifest-dir',
  prune: '--max-eligible-revision',
} as const;

/** The program of the static pod operators must start in its image. */
export async function requireStaticPodOperator(
  work: string,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const folder = await ensureComponent(staticPodOperatorImage, { signal, report });
  const archive = join(folder, STATIC_POD_OPERATOR_ARCHIVE);
  const root = await ImageRoot.unpack(archive, join(work, 'static-pod-operator'), signal);
  for (const [command, argument] of Object.entries(COMMANDS)) {
    const said = await root.run([command, '--help'], signal);
    if (said.includes(argument)) continue;
    throw new Failure('fatal', `image static-pod-operator: unexpected output of ${command}`, {
      expected: argument,
      found: said.slice(0, 200),
    });
  }
}
