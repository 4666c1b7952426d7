import { type Command, Option } from 'commander';
import { LEVELS, logged } from '../process/log-file.ts';
import type { Surroundings } from '../surroundings.ts';
import { type TargetName, targets } from '../wait-for/targets.ts';
import { type WaitForOptions, waitFor } from '../wait-for/wait-for.ts';

const DESCRIPTIONS: Readonly<Record<TargetName, string>> = {
  'bootstrap-complete':
    'wait until the installed host runs the control plane that the bootstrap made (ConfigMap kube-system/bootstrap)',
  'install-complete':
    "wait until the cluster is steady and the bootstrap is cleaned up (ConfigMap kube-system/sno-installation), then exchange auth/kubeconfig for one signed by the host's CA, or renew it, and write auth/backup-signer.json, by which backups of the host are known",
};

/** `sno wait-for ...`: follows an installation from the laptop. */
export function addWaitFor(sno: Command, surroundings: Surroundings): void {
  const command = sno.command('wait-for').description('wait for an event of the installation');
  for (const target of ['bootstrap-complete', 'install-complete'] as const) {
    command
      .command(target)
      .description(DESCRIPTIONS[target])
      .option('--dir <dir>', 'folder with auth/kubeconfig', '.')
      .option('--timeout <duration>', 'such as 90m or 1h30m', targets[target].defaultTimeout)
      .addOption(
        new Option('--log-level <level>', 'lowest level to print').choices(LEVELS).default('info'),
      )
      .action((options: WaitForOptions) =>
        logged(options.dir, surroundings, (own, log) => waitFor(target, options, own, log)),
      );
  }
}
