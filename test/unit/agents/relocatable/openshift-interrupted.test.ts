/** `reconfigure prepare` on OpenShift and its way back, interrupted before each of their effects. */
import { readdirSync } from 'node:fs';
import t from 'tap';
import {
  agentUnits,
  withoutAgentUnits,
} from '../../../../agents/reconfigure/prepare/openshift/agent-units.ts';
import {
  nodeRecord,
  withoutNodeRecord,
} from '../../../../agents/reconfigure/prepare/openshift/node-record.ts';
import { kubeletEnvironmentPath } from '../../../../lib/host/kubelet-environment.ts';
import { relocatableUnits } from '../../../../units/openshift.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import type { TestHost } from '../host/host.ts';
import { NODE, openShiftHost } from './openshift-host.ts';

const COMMANDS = ['/usr/local/bin', '/var/lib/sno-agents/bin'];
const unitFile = (name: string) => `/etc/systemd/system/${name}`;
const placed = (host: TestHost) =>
  relocatableUnits.filter(({ name }) => host.has(unitFile(name))).map(({ name }) => name);
const enabled = (host: TestHost) =>
  host.has('/enabled') ? readdirSync(host.at('/enabled')).toSorted() : [];
const commands = (host: TestHost) =>
  COMMANDS.flatMap((folder) =>
    host.has(folder) ? readdirSync(host.at(folder)).filter((name) => !name.startsWith('.')) : [],
  );

t.test('agent-units, interrupted: no unit is enabled before it is whole', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => openShiftHost(t),
    run: (host) => agentUnits.run(host.context, host.progress()),
    allowed(host, when) {
      t.same(
        enabled(host).filter((name) => !placed(host).includes(name)),
        [],
        when,
      );
    },
    result: (host) => ({
      enabled: enabled(host),
      units: relocatableUnits.map(({ name }) => [
        host.read(unitFile(name)),
        host.mode(unitFile(name)),
      ]),
      commands: commands(host),
      isRead: host.programs.calls('systemctl').at(-1),
    }),
    least: 20,
    isDurable: true,
  });
});

t.test('agent-units, taken back and interrupted: no enabled unit without a file', async (t) => {
  await killedAtAnyMoment(t, {
    prepare() {
      const host = openShiftHost(t);
      for (const { name, contents, enabled } of relocatableUnits) {
        host.write(unitFile(name), contents);
        if (enabled) host.write(`/enabled/${name}`);
      }
      for (const folder of COMMANDS) host.write(`${folder}/reconfigure`);
      return host;
    },
    run: (host) => withoutAgentUnits.run(host.context, host.progress()),
    allowed(host, when) {
      t.same(
        enabled(host).filter((name) => !placed(host).includes(name)),
        [],
        when,
      );
    },
    result: async (host) => ({
      holds: await withoutAgentUnits.holds(host.context, host.progress()),
      enabled: enabled(host),
      placed: placed(host),
      commands: commands(host),
      isRead: host.programs.calls('systemctl').at(-1),
    }),
    least: 20,
    isDurable: true,
  });
});

t.test('node-record, interrupted: written and taken back', async (t) => {
  const path = kubeletEnvironmentPath(openShiftHost(t).paths);
  const file = path.slice(path.lastIndexOf('/etc/'));
  await killedAtAnyMoment(t, {
    prepare: () => openShiftHost(t),
    run: (host) => nodeRecord.run({ ...host.context, node: NODE }, host.progress()),
    result: (host) => [host.read(file), host.mode(file)],
    least: 3,
    isDurable: true,
  });
  await killedAtAnyMoment(t, {
    prepare() {
      const host = openShiftHost(t);
      host.write(file, 'KUBELET_NODE_NAME=edge-0\n');
      return host;
    },
    run: (host) => withoutNodeRecord.run(host.context, host.progress()),
    result: (host) => host.has(file),
    least: 1,
    isDurable: true,
  });
});
