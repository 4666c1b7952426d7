import { reboot } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, writeFileAtomic } from '../../lib/host/files.ts';
import type { HostContext } from '../steps/host-context.ts';

/** Creates the installer's marker and requests the reboot; the disk is complete by now. */
export const restart: StepBody<HostContext> = {
  name: 'restart',
  leaves: '/opt/openshift/.install-to-disk.done, and a host that restarts',
  touches: ['disk'],
  input: ({ cluster }) => cluster.clusterId,
  holds: ({ paths }) => exists(paths.installDone),
  async run({ paths, cluster }) {
    await writeFileAtomic(paths.installDone, `${cluster.clusterId}\n`, 0o644);
    return reboot(`the installation on ${cluster.installation?.disk ?? 'this disk'} is complete`);
  },
};
