import { agentLinks, type LinkOnHost } from '../../../../lib/engine/agents/links.ts';
import { issueLink } from '../../../../lib/engine/console/publish-issue.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import {
  exists,
  readTextIfPresent,
  removeFile,
  writeFileAtomic,
} from '../../../../lib/host/files.ts';
import { placeLinks } from '../../../../lib/host/links.ts';
import type { HostPaths } from '../../../../lib/host/paths.ts';
import {
  disableUnit,
  enableUnits,
  reloadUnits,
  unitProperties,
} from '../../../../lib/host/systemd.ts';
import { relocatableUnits } from '../../../../units/openshift.ts';
import type { PlainHost } from '../../../steps/host-context.ts';

type Context = Pick<PlainHost, 'paths'>;

const unitPath = (paths: HostPaths, name: string) => paths.at(`/etc/systemd/system/${name}`);

/** What people call, and the login prompt's text about this host. */
const links: readonly LinkOnHost[] = [
  ...agentLinks(['reconfigure', 'sno-trial', 'sno-report']),
  issueLink,
];

/**
 * Places the units that take a site volume and that take it back, which an installation of OpenShift does not leave behind. As
 * files, not as a MachineConfig: that would have to have the text of each release of the agents, and a change of it restarts
 * the host. The machine-config daemon compares only files that a MachineConfig names (pkg/daemon/on_disk_validation.go), and
 * an update of CoreOS keeps /etc and /var. Each file is made in the folder in which it stays, and so has the label of SELinux of
 * that folder.
 */
export const agentUnits: StepBody<Context> = {
  name: 'agent-units',
  leaves: 'the units of reconfigure, sno-trial and sno-report, enabled, and their commands',
  touches: ['disk', 'systemd'],
  retries: true,
  input: () => relocatableUnits,
  async holds({ paths }, { signal }) {
    for (const { path } of links) if (!(await exists(paths.at(path)))) return false;
    for (const { name, contents, enabled } of relocatableUnits) {
      if ((await readTextIfPresent(unitPath(paths, name))) !== contents) return false;
      const wanted = ['UnitFileState', 'NeedDaemonReload'] as const;
      const { UnitFileState, NeedDaemonReload } = await unitProperties(name, wanted, signal);
      if (NeedDaemonReload !== 'no' || (enabled && UnitFileState !== 'enabled')) return false;
    }
    return true;
  },
  async run({ paths }, { signal }) {
    for (const { name, contents } of relocatableUnits) {
      await writeFileAtomic(unitPath(paths, name), contents, 0o644);
    }
    await placeLinks(paths, links);
    const enabled = relocatableUnits.filter((unit) => unit.enabled).map(({ name }) => name);
    await enableUnits(enabled, signal);
    await reloadUnits(signal);
    return done(`${relocatableUnits.length} units`);
  },
};

/** The link of a unit goes before its file: a unit that is enabled and has no file would be an error at each boot. */
export const withoutAgentUnits: StepBody<Context> = {
  name: 'agent-units',
  leaves: 'no units and commands of reconfigure, sno-trial and sno-report',
  touches: ['disk', 'systemd'],
  retries: true,
  input: () => 'removed',
  async holds({ paths }) {
    const all = [
      ...relocatableUnits.map(({ name }) => unitPath(paths, name)),
      ...links.map(({ path }) => paths.at(path)),
    ];
    for (const path of all) if (await exists(path)) return false;
    return true;
  },
  async run({ paths }, { signal }) {
    for (const { name, enabled } of relocatableUnits.toReversed()) {
      if (!(await exists(unitPath(paths, name)))) continue;
      if (enabled) await disableUnit(name, signal);
      await removeFile(unitPath(paths, name));
    }
    for (const { path } of links) await removeFile(paths.at(path));
    await reloadUnits(signal);
    return done();
  },
};
