import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { sha256 } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile, stateText } from '../../host/state-file.ts';
import type { PodRole, RenderedFile, StaticPod } from '../renderer.ts';
import { paths as openShift } from './paths.ts';

const podSchema = z.object({
  component: z.string(),
  /** Absolute path of its manifest on the installed host. */
  path: z.string(),
  /** Of the manifest: an operator writes its own into the same file. */
  sha256: z.string(),
});

/** A static pod of the bootstrap that continues on the installed host. */
export type BootstrapPod = z.infer<typeof podSchema>;

const PATH = '/etc/sno-agents/bootstrap-pods.json';

/** They cross the reboot; the others belong to the live host. */
const CONTINUED: readonly PodRole[] = ['database', 'api-server', 'leader'];

/** The list of these pods, for the installed host. */
export function bootstrapPodsFile(pods: readonly StaticPod[]): RenderedFile {
  const listed = pods
    .filter(({ role }) => CONTINUED.includes(role))
    .map(
      ({ component, file, manifest }): BootstrapPod => ({
        component,
        path: `${openShift.staticPods}/${file}`,
        sha256: sha256(manifest),
      }),
    );
  return {
    path: PATH,
    mode: 0o600,
    contents: stateText(listed, false),
    uses: ['node'],
    leftover: 'it lists the static pods that the operators take over',
  };
}

/** The list on the installed host. @throws Failure (fatal) if it is missing or damaged */
export async function readBootstrapPods(paths: HostPaths): Promise<BootstrapPod[]> {
  const damaged = {
    expected: "the list of the bootstrap's static pods",
    fix: 'Restore it from the combined Ignition. Without it no static pod is deleted.',
  };
  const listed = await stateFile(paths.at(PATH), z.array(podSchema), { damaged }).read();
  if (listed !== undefined) return listed;
  throw new Failure('fatal', `${PATH} does not exist`, damaged);
}
