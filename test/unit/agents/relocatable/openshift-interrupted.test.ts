/** `reconfigure prepare` on OpenShift and its way back, interrupted before each of their effects. */
import { readdirSync } from 'node:fs';
import t from 'tap';
import type { FixedNode } from '../../../../agents/reconfigure/prepare/openshift/accept.ts';
import {
  agentUnits,
  withoutAgentUnits,
} from '../../../../agents/reconfigure/prepare/openshift/agent-units.ts';
import {
  clusterRecord,
  withoutClusterRecord,
} from '../../../../agents/reconfigure/prepare/openshift/cluster-record.ts';
import {
  nodeRecord,
  withoutNodeRecord,
} from '../../../../agents/reconfigure/prepare/openshift/node-record.ts';
import {
  pinnedImages,
  pinnedPath,
  withoutPinnedImages,
} from '../../../../agents/reconfigure/prepare/openshift/pinned-images.ts';
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

t.test('agent-units: whatever is not as it was left is made again', async (t) => {
  const host = openShiftHost(t);
  const holds = () => agentUnits.holds(host.context, host.progress());
  const [service = ''] = relocatableUnits.filter((unit) => unit.enabled).map(({ name }) => name);
  for (const [what, change] of [
    ['nothing was made', () => undefined],
    ['a unit of another release', () => host.write(unitFile(service), '[Unit]\n')],
    ['a unit that is gone', () => host.remove(unitFile(service))],
    ['a unit that is disabled', () => host.remove(`/enabled/${service}`)],
    ['units that systemd has not read', () => host.write('/unread')],
    ['a command that is gone', () => host.remove('/usr/local/bin/reconfigure')],
  ] as const) {
    change();
    t.equal(await holds(), false, what);
    await agentUnits.run(host.context, host.progress());
    const last = host.programs.calls('systemctl').at(-1);
    t.equal(last, 'systemctl daemon-reload', 'which reads the links of what is enabled, too');
    t.equal(await holds(), true, what);
  }
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
      const started = enabled(host).map((name) => name.replace(/\.(timer|path)$/, '.service'));
      t.same(
        [...enabled(host), ...started].filter((name) => !placed(host).includes(name)),
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

t.test('agent-units are not taken back while one of them, or a command, is there', async (t) => {
  const [unit = ''] = relocatableUnits.map(({ name }) => unitFile(name));
  for (const path of [unit, `${COMMANDS[0]}/reconfigure`]) {
    const host = openShiftHost(t);
    const holds = () => withoutAgentUnits.holds(host.context, host.progress());
    t.equal(await holds(), true);
    host.write(path, 'left');
    t.equal(await holds(), false, path);
  }
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

t.test(
  'node-record: another address or name, and a record that is left, is not as wanted',
  async (t) => {
    const host = openShiftHost(t);
    const of = (node: FixedNode) => ({ ...host.context, node });
    const isThere = (node: FixedNode) => nodeRecord.holds(of(node), host.progress());
    const isGone = () => withoutNodeRecord.holds(host.context, host.progress());
    t.same([await isThere(NODE), await isGone()], [false, true]);
    await nodeRecord.run(of(NODE), host.progress());
    t.same([await isThere(NODE), await isGone()], [true, false]);
    t.equal(await isThere({ ...NODE, address: '192.0.2.11' }), false);
    t.equal(await isThere({ ...NODE, nodeName: 'edge-1' }), false);
  },
);

t.test('pinned-images, interrupted: CRI-O reads what is there at the end', async (t) => {
  const state = (host: TestHost) =>
    [pinnedPath, '/reloaded'].map((path) => (host.has(path) ? host.read(path) : undefined));
  await killedAtAnyMoment(t, {
    prepare: () => openShiftHost(t),
    run: (host) => pinnedImages.run(host.context, host.progress()),
    result: (host) => [...state(host), host.mode(pinnedPath)],
    least: 4,
    isDurable: true,
  });
  await killedAtAnyMoment(t, {
    prepare() {
      const host = openShiftHost(t);
      for (const path of [pinnedPath, '/reloaded']) host.write(path, 'of the factory');
      return host;
    },
    run: (host) => withoutPinnedImages.run(host.context, host.progress()),
    result: async (host) => [
      ...state(host),
      await withoutPinnedImages.holds(host.context, host.progress()),
    ],
    least: 2,
    isDurable: true,
  });
});

t.test('pinned-images: nothing to pin leaves no list of before', async (t) => {
  const host = openShiftHost(t);
  for (const path of [pinnedPath, '/reloaded']) host.write(path, 'of the release before');
  t.equal(await pinnedImages.holds(host.context, host.progress()), false, 'other images');
  const config = { storage: { files: [] }, systemd: { units: [] } };
  host.write('/etc/machine-config-daemon/currentconfig', JSON.stringify({ spec: { config } }));
  t.equal(await pinnedImages.holds(host.context, host.progress()), false);
  t.match(await pinnedImages.run(host.context, host.progress()), { note: '0 images' });
  t.equal(await pinnedImages.holds(host.context, host.progress()), true);
  t.notOk(host.has(pinnedPath) || host.has('/reloaded'), 'CRI-O reads that, too');
});

t.test('cluster-record, interrupted: nothing is described without a record', async (t) => {
  const CLUSTER = '/etc/sno-agents/cluster.json';
  const RECORD = '/var/lib/sno-agents/record.json';
  const prepare = () => {
    const host = openShiftHost(t);
    const { cluster } = host.context;
    const { openshift } = JSON.parse(host.read(CLUSTER));
    Object.assign(cluster, { openshift: { ...openshift, installedByOthers: true } });
    return host;
  };
  let first: string | undefined;
  const allowed = (host: TestHost, when: string): void => {
    t.ok(host.has(RECORD) || !host.has(CLUSTER), when);
    first = host.has(RECORD) ? host.read(RECORD) : undefined;
  };
  await killedAtAnyMoment(t, {
    prepare() {
      const host = prepare();
      for (const path of [CLUSTER, RECORD]) host.remove(path);
      return host;
    },
    run: (host) => clusterRecord.run(host.context, host.progress()),
    allowed,
    result: (host) => [
      JSON.parse(host.read(CLUSTER)).openshift,
      host.mode(CLUSTER),
      JSON.parse(host.read(RECORD)).cluster,
      first === undefined || first === host.read(RECORD),
    ],
    least: 6,
    isDurable: true,
  });
  await killedAtAnyMoment(t, {
    prepare,
    run: (host) => withoutClusterRecord.run(host.context, host.progress()),
    // Whose record it is, is said by the description.
    allowed: (host, when) => void t.ok(host.has(CLUSTER) || !host.has(RECORD), when),
    result: (host) => [host.has(CLUSTER), host.has(RECORD)],
    least: 2,
    isDurable: true,
  });
});

t.test('told to stop, no program is waited for', async (t) => {
  for (const [step, call] of [
    [agentUnits, 'daemon-reload'],
    [withoutAgentUnits, 'daemon-reload'],
    [pinnedImages, 'try-reload-or-restart crio.service'],
    [withoutPinnedImages, 'try-reload-or-restart crio.service'],
  ] as const) {
    const host = openShiftHost(t);
    const hangs = '{ touch "$ROOT/hangs"; exec sleep 20; }';
    host.programs.unless('systemctl', `[ "$*" = "${call}" ] && ${hangs}`);
    const ended = await host.stoppedAt('/hangs', (progress) => step.run(host.context, progress));
    t.match(ended, { message: `systemctl ${call}` });
    t.match(ended, { message: /found stopped after/ });
  }
});
