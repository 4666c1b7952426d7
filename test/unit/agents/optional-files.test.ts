/** Each optional file that a unit reads at a boot, or on the way back from a change, damaged: the unit goes on without it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readRestarts } from '../../../agents/steps/steady-state.ts';
import { readState } from '../../../agents/upkeep/address/state.ts';
import { readAttempts } from '../../../agents/upkeep/renew/attempts.ts';
import { readByKubelet } from '../../../agents/worker/trust/kubelet-record.ts';
import { siteChange } from '../../../lib/change/site/request.ts';
import { readTaken } from '../../../lib/change/update/taken.ts';
import { readOwnExpiry } from '../../../lib/cluster/deferred/expiry.ts';
import { readMembers } from '../../../lib/cluster/workers/members.ts';
import { AGENTS } from '../../../lib/engine/agents/table.ts';
import { settingsFor, settingsNotice } from '../../../lib/engine/steps/settings-for.ts';
import { readStatus } from '../../../lib/engine/steps/status.ts';
import { readLast } from '../../../lib/engine/trial/store.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { readImported } from '../../../lib/payload/imported.ts';
import { importsOf, root, sourcesIn } from '../structure/source.ts';
import { DAMAGE } from './damage.ts';
import { testHost } from './host/host.ts';

const SETTINGS = '/etc/sno-agents/settings.json';
const STATE = '/var/lib/sno-agents';
const STATUS = '/run/sno-agents/sno-trial/status.json';

type Read = (paths: HostPaths) => Promise<unknown>;

/** By path: who reads it, and as what a damaged one counts. */
const OPTIONAL: Readonly<Record<string, readonly [read: Read, none: unknown]>> = {
  [SETTINGS]: [async (paths) => (await settingsFor(paths, ['run'])).settings, defaultSettings],
  [STATUS]: [(paths) => readStatus(paths.at(STATUS)), undefined],
  [`${STATE}/aiokube/restarts.json`]: [(paths) => readRestarts({ paths }, 'aiokube'), []],
  [`${STATE}/images-imported.json`]: [readImported, new Set()],
  [`${STATE}/reconfigure/result.json`]: [(paths) => siteChange.last(paths), undefined],
  [`${STATE}/sno-address/state.json`]: [
    readState,
    { schemaVersion: 1, interfaces: {}, followed: [] },
  ],
  [`${STATE}/sno-approve/members/worker-1.json`]: [readMembers, []],
  [`${STATE}/sno-deferred/expiry.json`]: [readOwnExpiry, undefined],
  [`${STATE}/sno-renew/attempts.json`]: [readAttempts, []],
  [`${STATE}/sno-trial/last.json`]: [readLast, undefined],
  [`${STATE}/sno-update/taken.json`]: [readTaken, undefined],
  [`${STATE}/sno-worker-trust/kubelet.json`]: [readByKubelet, undefined],
};

for (const [path, [read, none]] of Object.entries(OPTIONAL)) {
  t.test(`${path} is optional`, async (t) => {
    for (const [what, damage] of Object.entries(DAMAGE)) {
      const host = testHost(t);
      t.strictSame(await read(host.paths), none, 'without it');
      damage(host, path);
      t.strictSame(await read(host.paths), none, what);
    }
  });
}

/** The command lines of the agents in all units: the agent and its arguments. */
const started = sourcesIn('units/**/*.service').flatMap((file) =>
  [
    ...readFileSync(join(root, file), 'utf8').matchAll(
      /^Exec(?:Start|Condition)=\S+\/bin\/sno-agents(?:\.trial)? (.+)$/gm,
    ),
  ].map(([, line = '']) => line.split(' ')),
);

t.test('with damaged settings, whatever a unit starts goes on', async (t) => {
  t.ok(started.length > 20, `${started.length} command lines`);
  const names = new Set(started.map(([name]) => name));
  t.same(
    AGENTS.filter(({ name }) => !names.has(name)),
    [],
    'each agent has a unit',
  );
  for (const [what, damage] of Object.entries(DAMAGE)) {
    const host = testHost(t);
    damage(host, SETTINGS);
    for (const [name, ...args] of started) {
      // Both read settings on their own: see the tests of gather and sno-address.
      if (name === 'gather' || args[0] === 'needed') continue;
      // It reads none.
      if (name === 'reconfigure' && args[0] === 'ask') continue;
      const { settings, fault } = await settingsFor(host.paths, args);
      t.strictSame(settings, defaultSettings, `${what}: ${name} ${args.join(' ')}`);
      t.match(
        fault === undefined ? '' : settingsNotice(fault),
        /settings\.json cannot be used.*defaults/,
      );
    }
  }
});

/** Commands of people, which refuse: all that reads settings in another way. */
const REFUSING = [
  'agents/commands/wait-steady/main.ts',
  'agents/reconfigure/prepare/main.ts',
  'agents/reconfigure/validate/main.ts',
  'agents/upkeep/backup/restore/new-host.ts',
  'agents/upkeep/update/main.ts',
];

t.test('only commands of people refuse damaged settings', async (t) => {
  const strict = sourcesIn('agents/**/*.ts').filter((file) =>
    importsOf(file).some(
      ({ target, names }) => target === 'lib/host/settings.ts' && names.includes('readSettings'),
    ),
  );
  t.same(strict, REFUSING);
  for (const [what, damage] of Object.entries(DAMAGE)) {
    const host = testHost(t);
    damage(host, SETTINGS);
    for (const command of ['create', 'restore', 'confirm', 'revert', 'change', 'rotate-ca']) {
      await t.rejects(
        settingsFor(host.paths, [command]),
        { kind: 'usage', message: /settings\.json cannot be used.*Correct the file, or delete it/ },
        `${what}: ${command}`,
      );
    }
    t.ok(
      (await settingsFor(host.paths, ['status'])).fault,
      'and what only shows something goes on',
    );
  }
});
