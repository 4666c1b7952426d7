import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { execa } from 'execa';
import t from 'tap';
import { AGENTS, agentEntry } from '../../../lib/engine/agents/table.ts';
import { aioUnits, MEDIUM_LABEL } from '../../../units/aio.ts';
import { deferredUnit, nodeUnits, pivotUnits } from '../../../units/installed.ts';
import { executableByUrl, liveUnits, networkUnit } from '../../../units/live.ts';
import type { UnitFile } from '../../../units/unit-file.ts';
import { ownWorkerUnits, workerUnits } from '../../../units/worker.ts';
import { backupPushRequirements } from './backup-push-requirements.ts';
import { changeRequirements } from './change-requirements.ts';
import { orderRequirements } from './order-requirements.ts';
import { reportRequirements } from './report-requirements.ts';
import { type Requirement, SITE_URL } from './requirement.ts';
import { sandboxRequirements } from './sandbox-requirements.ts';
import { serviceRequirements } from './service-requirements.ts';
import { siteUrlRequirements } from './site-url-requirements.ts';
import { timeoutRequirements } from './timeout-requirements.ts';
import { type Directives, isWordList, parseUnit } from './unit-text.ts';
import { unsealRequirements } from './unseal-requirements.ts';
import { workerTrustRequirements } from './worker-trust-requirements.ts';

const root = join(import.meta.dirname, '..', '..', '..', 'units');
const requirements: readonly Requirement[] = [
  ...sandboxRequirements,
  ...serviceRequirements,
  ...orderRequirements,
  ...unsealRequirements,
  ...changeRequirements,
  ...timeoutRequirements,
  ...workerTrustRequirements,
  ...reportRequirements,
  ...backupPushRequirements,
  ...siteUrlRequirements,
];
const units = new Map(
  globSync('**/*.{service,timer,path,socket}', { cwd: root })
    .toSorted()
    .map((path): [string, Directives] => [
      path.replace(/\.service$/, ''),
      parseUnit(readFileSync(join(root, path), 'utf8')),
    ]),
);

const listOf = (value: string | readonly string[]) =>
  typeof value === 'string' ? (value === '' ? [] : [value]) : value;

/** Whether the lines of a directive are as required; of a list of words, others may be in it too. */
function isAsRequired(
  directive: string,
  values: readonly string[] | undefined,
  value: string | readonly string[],
): boolean {
  const wanted = listOf(value);
  return isWordList(directive) && value !== ''
    ? wanted.every((word) => values?.includes(word))
    : isDeepStrictEqual(values, wanted);
}

t.test('each unit has the required directives', async (t) => {
  const faults: string[] = [];
  for (const { why, units: names, says } of requirements) {
    t.not(Object.keys(says).length, 0, why);
    for (const name of names) {
      for (const [directive, value] of Object.entries(says)) {
        const values = units.get(name)?.get(directive);
        if (isAsRequired(directive, values, value)) continue;
        const found = values === undefined ? 'nothing' : `"${values.join(' ')}"`;
        faults.push(
          `${name}: ${directive}=${listOf(value).join(' ')}, found ${found}; why: ${why}`,
        );
      }
    }
  }
  t.same(faults, []);
});

t.test('no unit has a directive that is not required', async (t) => {
  const faults: string[] = [];
  for (const [name, directives] of units) {
    const own = requirements.filter(({ units: names }) => names.includes(name));
    t.not(own.length, 0, `${name} has requirements`);
    for (const [directive, values] of directives) {
      if (directive === 'Description') continue;
      const asked = own.filter(({ says }) => says[directive] !== undefined);
      const wanted = asked.flatMap(({ says }) => listOf(says[directive] ?? ''));
      if (asked.length === 0) faults.push(`${name}: nothing requires ${directive}`);
      for (const value of values)
        if (!wanted.includes(value)) faults.push(`${name}: nothing requires ${directive}=${value}`);
      if (new Set(values).size < values.length)
        faults.push(`${name}: ${directive} repeats a value`);
    }
  }
  t.same(faults, []);
});

t.test('each unit has a description', async (t) => {
  const described = [...units].map(([name, directives]) => [name, directives.get('Description')]);
  for (const [name, text] of described) t.match(text, [/^[A-Z].{10,}[^.]$/], `${name}`);
});

t.test('requirements name existing units', async (t) => {
  const unknown = requirements.flatMap(({ units: names, why }) =>
    names.filter((name) => !units.has(name)).map((name) => `${name}: ${why}`),
  );
  t.same(unknown, []);
});

/** Both hosts have them; they have conditions. */
const REPORT = { 'sno-report': false, 'sno-report.path': true, 'sno-report.timer': true };

/** The units of each host, and whether they are enabled. */
const HOSTS: readonly {
  readonly host: string;
  readonly files: readonly UnitFile[];
  readonly enabled: Readonly<Record<string, boolean>>;
}[] = [
  {
    host: 'live',
    files: liveUnits,
    enabled: {
      'sno-label': true,
      // Started by failures and by bootkube.
      'sno-gather': false,
      // Required by those that run it.
      'sno-executable': false,
      // Started by bootkube, once its program is there.
      kubelet: false,
      // Wanted by install-to-disk: other installers start it by itself.
      bootkube: false,
      'install-to-disk': true,
      'approve-csr': true,
      progress: true,
      ...REPORT,
    },
  },
  { host: 'live', files: [networkUnit], enabled: { 'sno-network': true } },
  { host: 'live/by-url', files: [executableByUrl], enabled: { 'sno-executable': false } },
  {
    host: 'installed',
    files: nodeUnits,
    enabled: {
      'sno-label': true,
      'sno-gather': false,
      kubelet: true,
      'sno-payload': true,
      'sno-certificates': true,
      // Started by its timer.
      'sno-renew': false,
      'sno-renew.timer': true,
      'sno-renew.path': true,
      'sno-backup': false,
      'sno-backup.timer': true,
      'sno-backup-push': false,
      'sno-backup-push.timer': true,
      'sno-backup-restore': true,
      'sno-rotate': true,
      'sno-identity': true,
      'sno-address': true,
      'sno-address.socket': true,
      'sno-trial': true,
      'sno-trial.timer': true,
      'sno-update': true,
      'sno-update.path': true,
      reconfigure: true,
      'sno-site-url': false,
      'sno-site-url.timer': true,
      'sno-approve': true,
      'sno-approve.path': true,
      ...REPORT,
    },
  },
  {
    host: 'installed',
    files: pivotUnits,
    enabled: { 'sno-restore': true, bootkube: true, progress: true },
  },
  { host: 'installed', files: [deferredUnit], enabled: { 'sno-deferred': true } },
  {
    host: 'worker',
    files: ownWorkerUnits,
    enabled: {
      'sno-api.socket': true,
      'sno-api': false,
      'sno-worker': true,
      'sno-worker-trust': false,
      'sno-worker-trust.timer': true,
    },
  },
];

/** The device of the mount unit's What=, as systemd escapes its path. */
const MEDIUM_DEVICE = 'dev-disk-by\\x2dlabel-sno\\x2dagents.device';

/** aiokube enables them once they have what they need. */
const ENABLED_LATER = { kubelet: false, 'sno-payload': false, 'sno-certificates': false };
const AIO = {
  'sno-label': true,
  'sno-gather': false,
  'sno-renew': false,
  'sno-renew.timer': true,
  'sno-renew.path': true,
  'sno-backup': false,
  'sno-backup.timer': true,
  'sno-backup-push': false,
  'sno-backup-push.timer': true,
  'sno-backup-restore': true,
  'sno-rotate': true,
  'sno-identity': true,
  'sno-address': true,
  'sno-address.socket': true,
  'sno-trial': true,
  'sno-trial.timer': true,
  'sno-update': true,
  'sno-update.path': true,
  reconfigure: true,
  'sno-site-url': false,
  'sno-site-url.timer': true,
  'sno-approve': true,
  'sno-approve.path': true,
  ...REPORT,
  ...ENABLED_LATER,
  // Wanted by aiokube.
  'sno-executable': false,
  progress: true,
  aiokube: true,
};

t.test('an all-in-one host has the units of a node, but the kubelet waits', async (t) => {
  const enabledIn = (files: readonly UnitFile[]) =>
    Object.fromEntries(files.map(({ name, enabled }) => [basename(name, '.service'), enabled]));
  t.same(enabledIn(aioUnits('url')), AIO);
  t.same(enabledIn(aioUnits('medium')), {
    ...AIO,
    // Wanted by sno-executable.
    'run-media-iso.mount': false,
    [MEDIUM_DEVICE]: false,
  });
  t.same(enabledIn(aioUnits('url', { isSealed: true })), { ...AIO, 'sno-unseal': true });
  for (const [source, folders] of [
    ['url', ['aio/by-url', 'aio', 'installed', 'report', '.']],
    ['medium', ['aio', 'installed', 'report', '.']],
  ] as const) {
    for (const { name, contents } of aioUnits(source, { isSealed: true })) {
      const file = name === MEDIUM_DEVICE ? 'medium.device' : name;
      const path = folders
        .map((folder) => join(root, folder, file))
        .find((each) => existsSync(each));
      t.equal(contents, readFileSync(path ?? '', 'utf8'), `${source}: ${name}`);
    }
  }
});

t.test('a worker has no unit of a control plane, and its kubelet waits', async (t) => {
  const names = (source: 'url' | 'medium') =>
    Object.fromEntries(
      workerUnits(source).map(({ name, enabled }) => [basename(name, '.service'), enabled]),
    );
  const both = {
    'sno-label': true,
    'sno-gather': false,
    'sno-payload': false,
    kubelet: false,
    'sno-trial': true,
    'sno-trial.timer': true,
    'sno-update': true,
    'sno-executable': false,
    progress: true,
    'sno-api.socket': true,
    'sno-api': false,
    'sno-worker': true,
    'sno-worker-trust': false,
    'sno-worker-trust.timer': true,
  };
  t.same(names('url'), both);
  t.same(names('medium'), { ...both, 'run-media-iso.mount': false, [MEDIUM_DEVICE]: false });
});

t.test('a host whose second medium was removed does not wait long for it', async (t) => {
  const device = aioUnits('medium').find(({ name }) => name === MEDIUM_DEVICE);
  const [, seconds] = /^JobRunningTimeoutSec=(\d+)$/m.exec(device?.contents ?? '') ?? [];
  t.ok(Number(seconds) >= 10 && Number(seconds) <= 20, 'time to be detected, and no more');
  t.notOk(aioUnits('url').some(({ name }) => name === MEDIUM_DEVICE));
  const escaped = await execa('systemd-escape', ['--path', `/dev/disk/by-label/${MEDIUM_LABEL}`], {
    reject: false,
  });
  if (!escaped.failed) t.equal(`${escaped.stdout}.device`, MEDIUM_DEVICE);
});

t.test('the second medium is found by its label, and read-only', async (t) => {
  const mount = aioUnits('medium').find(({ name }) => name === 'run-media-iso.mount');
  t.match(mount?.contents, `What=/dev/disk/by-label/${MEDIUM_LABEL}\n`);
  t.match(mount?.contents, 'Where=/run/media/iso\n');
  t.match(mount?.contents, /^Options=ro,nodev,nosuid,noexec$/m);
});

t.test('each host has its units, enabled unless another unit starts them', async (t) => {
  for (const { host, files, enabled } of HOSTS) {
    t.strictSame(
      Object.fromEntries(files.map((file) => [basename(file.name, '.service'), file.enabled])),
      enabled,
      host,
    );
    for (const { name, contents, enabled: isEnabled } of files) {
      const path = [`${host}/${name}`, `report/${name}`, name].find((each) =>
        units.has(each.replace(/\.service$/, '')),
      );
      t.equal(contents, readFileSync(join(root, path ?? ''), 'utf8'), `${host}: ${name}`);
      const directives = parseUnit(contents);
      const installs = directives.has('WantedBy') || directives.has('RequiredBy');
      t.equal(isEnabled, installs, `${host}: ${name} is enabled as its [Install] section says`);
    }
  }
});

t.test('units and the table of agents agree', async (t) => {
  const seen = new Set<string>();
  for (const [path, directives] of units) {
    const [, agent] =
      /bin\/sno-agents(?:\.trial)? (\S+)/.exec(directives.get('ExecStart')?.[0] ?? '') ?? [];
    // Of the same agent, a question that has no plan.
    if (agent === undefined || path === SITE_URL) continue;
    const entry = agentEntry(agent);
    seen.add(agent);
    t.equal(entry?.unit, basename(path), `${path} runs ${agent}`);
    t.equal(
      directives.get('RequiredBy')?.includes('kubelet.service') ?? false,
      entry?.beforeKubelet === true,
      `${path}: whether the kubelet requires it`,
    );
  }
  t.strictSame([...seen].toSorted(), AGENTS.map(({ name }) => name).toSorted());
});
