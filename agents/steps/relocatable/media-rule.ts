import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { run } from '../../../lib/host/command.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { mediaRule, mediaRulePath } from '../../../lib/relocation/relocatable/media-rule.ts';
import type { HostContext } from '../host-context.ts';

const RELOAD_MS = 30_000;

const present = ({ paths }: { readonly paths: HostPaths }) =>
  readTextIfPresent(paths.at(mediaRulePath));

const reload = (signal: AbortSignal) =>
  run('udevadm', ['control', '--reload'], { signal, deadlineMs: RELOAD_MS });

/** Has the host look at each site volume that is inserted. */
export const mediumRule: StepBody<HostContext> = {
  name: 'medium-rule',
  leaves: 'a rule of udev that starts reconfigure.service when a site volume is inserted',
  touches: ['disk', 'systemd'],
  input: () => mediaRule,
  holds: async (context) => (await present(context)) === mediaRule,
  async run({ paths }, { signal }) {
    await writeFileAtomic(paths.at(mediaRulePath), mediaRule, 0o644);
    await reload(signal);
    return done();
  },
};

export const withoutMediumRule: StepBody<HostContext> = {
  name: 'medium-rule',
  leaves: 'a host that ignores site volumes',
  touches: ['disk', 'systemd'],
  input: () => mediaRulePath,
  holds: async (context) => (await present(context)) === undefined,
  async run({ paths }, { signal }) {
    await removeFile(paths.at(mediaRulePath));
    await reload(signal);
    return done();
  },
};
