/** What changes a host without being asked for by a person at that moment: never beside another change. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { arrive } from '../../../agents/reconfigure/arrive.ts';
import { isRefusal } from '../../../agents/reconfigure/ask-url.ts';
import { runPrepare } from '../../../agents/reconfigure/prepare/main.ts';
import { runValidate } from '../../../agents/reconfigure/validate/main.ts';
import { follow } from '../../../agents/upkeep/address/follow.ts';
import { readState } from '../../../agents/upkeep/address/state.ts';
import { beginChange, requireAlone, stillRunning } from '../../../lib/change/exclusion.ts';
import { identityChange } from '../../../lib/change/identity/request.ts';
import { restoreChange } from '../../../lib/change/restore/request.ts';
import { siteChange, usedVolumes } from '../../../lib/change/site/request.ts';
import { lockAgent } from '../../../lib/engine/steps/lock.ts';
import { armTrial } from '../../../lib/engine/trial/arm.ts';
import { saveRenderInput } from '../../../lib/render/render-input.ts';
import { testHost } from '../agents/host/host.ts';
import { giveAddresses } from '../agents/host/network.ts';
import { factoryHost, insert } from '../agents/reconfigure/site-host.ts';
import { thrownBy } from '../base/errors/thrown-by.ts';
import { input } from '../render/rendered-host.ts';

const signal = new AbortController().signal;
const UPDATE = '/var/lib/sno-agents/sno-update/request.json';
const SEALED = '/etc/sno-agents/sealed';
const POLICY = '/etc/sno-agents/factory.json';
const OTHER = { kind: 'usage', code: 'change-under-way' };
/** Of whoever requests a change at this moment. */
const requesting = (root: string) => lockAgent('change', root);

t.test('a site volume waits for a change that is being requested', async (t) => {
  const host = await factoryHost(t);
  await insert(host);
  {
    using _other = await requesting(host.root);
    const failure = await thrownBy(arrive(host.paths, signal));
    t.match(failure, OTHER);
    t.notOk(isRefusal(failure), 'what came by a URL is judged again');
  }
  t.equal(await siteChange.read(host.paths), undefined);
  t.same(await usedVolumes(host.paths), []);
  t.match(await arrive(host.paths, signal), { kind: 'request' }, 'and is used afterwards');
});

t.test('an address that has moved waits for a change that is being requested', async (t) => {
  const host = testHost(t, {
    cluster: { onAddressChange: 'follow' },
    settings: { addressStableMs: 1 },
  });
  await saveRenderInput(host.paths, input);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(host.context.cluster));
  host.programs.give('systemctl', '');
  giveAddresses(host, '192.0.2.77/24');
  const run = () => follow.run({ ...host.context, run: 'this' }, host.progress());
  {
    using _other = await requesting(host.root);
    t.match(await run(), { kind: 'not-yet' });
  }
  t.equal(await identityChange.read(host.paths), undefined);
  t.same((await readState(host.paths)).followed, [], 'it is not counted');
  t.match(await run(), { kind: 'done' });
  t.equal((await readState(host.paths)).followed.length, 1);
});

t.test('nothing is requested while a host goes back, which has no request', async (t) => {
  const host = testHost(t);
  host.programs.give('systemctl', '');
  host.write('/var/lib/sno-agents/bin/sno-agents');
  const points = { files: [], folders: [] };
  const trial = { id: randomUUID(), what: 'a site', deadlineMs: 60_000, bootsCount: 2, points };
  await armTrial(host.paths, trial, signal);
  const request = { schemaVersion: 1, backup: 'b', requestedAt: '2030-01-01T00:00:00Z' } as const;
  const begun = beginChange(host.paths, () => restoreChange.write(host.paths, request));
  t.match(await thrownBy(begun), OTHER);
  t.equal(await restoreChange.read(host.paths), undefined);
});

t.test('a request waits for the end of a backup, a renewal and what prepares a node', async (t) => {
  const { paths, root } = testHost(t);
  t.equal(await stillRunning(paths), undefined);
  for (const agent of ['reconfigure-prepare', 'reconfigure-prepare-undo'] as const) {
    using _running = await lockAgent(agent, root);
    t.match(await stillRunning(paths), { kind: 'not-yet' }, agent);
    await t.resolves(requireAlone(paths, agent), 'the lock is its own');
  }
  for (const agent of ['sno-backup', 'sno-renew']) {
    using _running = await lockAgent(agent, root);
    t.match(await stillRunning(paths), { kind: 'not-yet' }, agent);
  }
  using _undo = await lockAgent('reconfigure-prepare-undo', root);
  t.match(await thrownBy(requireAlone(paths, 'reconfigure-prepare')), OTHER);
});

t.test('a node is not prepared, taken back, sealed or opened beside a change', async (t) => {
  const host = await factoryHost(t);
  host.programs.give('systemctl', '');
  host.write(UPDATE, '{}');
  const before = [host.read(POLICY), host.read(SEALED)];
  const write = () => undefined;
  t.equal(await runPrepare(host.paths, ['--undo'], { write }), 2);
  t.equal(await runValidate(host.paths, ['--unseal'], { write }), 2);
  t.same([host.read(POLICY), host.read(SEALED)], before);
  t.same(host.programs.calls('systemctl'), []);
});
